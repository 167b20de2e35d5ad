-- The text that a case of a run is read from again; null on rows of older versions.
ALTER TABLE run_cases ADD COLUMN text_hash TEXT;

-- Runs that gateways judge by themselves: those begun over HTTP. Who holds the lease works on one; it ends by the
-- database's clock, and whoever writes under it proves itself by `fencing_token`. `options` is JSON.
CREATE TABLE run_work (
    project TEXT NOT NULL,
    run TEXT NOT NULL,
    status TEXT NOT NULL,
    options TEXT NOT NULL,
    stop_asked BIGINT NOT NULL,
    reason TEXT,
    lease_owner TEXT NOT NULL,
    lease_until_us BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL,
    PRIMARY KEY (project, run)
);

CREATE INDEX run_work_waiting ON run_work (status, run, project);
