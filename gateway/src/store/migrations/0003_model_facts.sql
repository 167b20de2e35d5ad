-- What a model at an address turned out to refuse, so that a restart need not learn it again by errors.
CREATE TABLE model_facts (
    project TEXT NOT NULL,
    base_url TEXT NOT NULL,
    dialect TEXT NOT NULL,
    model TEXT NOT NULL,
    model_replied TEXT,
    learned TEXT NOT NULL,
    updated_us BIGINT NOT NULL,
    PRIMARY KEY (project, base_url, dialect, model)
);
