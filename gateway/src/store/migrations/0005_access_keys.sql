-- Who may use the gateway. Of a key only the hash of its text is kept; `may_ask` is a JSON list of panels and
-- `judge/NAME`, empty for all; without a budget `budget_window` is `never`.
CREATE TABLE access_keys (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    may_ask TEXT NOT NULL,
    sensitivity TEXT NOT NULL,
    budget_microusd BIGINT,
    budget_window TEXT NOT NULL,
    secret_hash TEXT NOT NULL,
    created_us BIGINT NOT NULL,
    expires_us BIGINT,
    revoked_us BIGINT
);

-- What each key has spent, by day: days since 1970 in UTC.
CREATE TABLE key_spending (
    project TEXT NOT NULL,
    key_id TEXT NOT NULL,
    day BIGINT NOT NULL,
    microusd BIGINT NOT NULL,
    calls BIGINT NOT NULL,
    PRIMARY KEY (project, key_id, day)
);
