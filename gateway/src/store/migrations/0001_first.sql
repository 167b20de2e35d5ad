-- One text for SQLite and Postgres: TEXT and BIGINT only, flags are 0 or 1, times are microseconds UTC (`_us`),
-- shares are parts per million (`_ppm`) or per billion (`_ppb`), costs are millionths of a US dollar, ids are UUIDv7.
-- Tables of numbers are append-only: a correction is a new row with the next `revision` that `replaces` the old one.
-- No foreign keys: a judgment is committed before the verdict that counts it, and texts are erased under both.

-- What a hash stands for: panels, judges, rubrics, baselines. Never the text of a case.
CREATE TABLE versions (
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    hash TEXT NOT NULL,
    name TEXT NOT NULL,
    body TEXT NOT NULL,
    created_us BIGINT NOT NULL,
    PRIMARY KEY (project, kind, hash)
);

-- Totals are null while a run is under way; then they are counted from its verdicts.
CREATE TABLE runs (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    panel TEXT NOT NULL,
    panel_version TEXT NOT NULL,
    status TEXT NOT NULL,
    input_hash TEXT,
    case_total BIGINT,
    settings TEXT NOT NULL,
    created_us BIGINT NOT NULL,
    finished_us BIGINT,
    outcome TEXT,
    finished_cases BIGINT,
    decided_cases BIGINT,
    escalated_cases BIGINT,
    cost_microusd BIGINT
);

CREATE INDEX runs_newest ON runs (project, id);

-- What reports need of a case after its texts are gone. `facts` is JSON: models, lengths, values to slice by.
CREATE TABLE run_cases (
    project TEXT NOT NULL,
    run TEXT NOT NULL,
    case_id TEXT NOT NULL,
    case_hash TEXT NOT NULL,
    position BIGINT NOT NULL,
    shard BIGINT NOT NULL,
    mode TEXT NOT NULL,
    source TEXT NOT NULL,
    sensitivity TEXT NOT NULL,
    inclusion_ppb BIGINT,
    facts TEXT NOT NULL,
    created_us BIGINT NOT NULL,
    PRIMARY KEY (project, run, case_id)
);

CREATE INDEX run_cases_by_position ON run_cases (project, run, shard, position);

-- `run` is a run's id or, for a single verdict, the verdict's own id.
-- Rows of one call share `call_id` and `created_us`; tokens and cost stand on one of them only.
CREATE TABLE judgments (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    run TEXT NOT NULL,
    case_id TEXT NOT NULL,
    case_hash TEXT NOT NULL,
    judge TEXT NOT NULL,
    criterion TEXT NOT NULL,
    ord TEXT NOT NULL,
    sample BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    replaces TEXT,
    source TEXT NOT NULL,
    origin_id TEXT,
    call_id TEXT NOT NULL,
    mode TEXT NOT NULL,
    panel_version TEXT NOT NULL,
    judge_fingerprint TEXT NOT NULL,
    template_hash TEXT NOT NULL,
    rubric_hash TEXT NOT NULL,
    model_replied TEXT,
    system_fingerprint TEXT,
    outcome TEXT NOT NULL,
    class TEXT,
    rating TEXT,
    reply_hash TEXT,
    prompt_hash TEXT,
    repaired BIGINT NOT NULL,
    attempts BIGINT NOT NULL,
    prompt_tokens BIGINT,
    completion_tokens BIGINT,
    cached_tokens BIGINT,
    reasoning_tokens BIGINT,
    cost_microusd BIGINT,
    latency_us BIGINT NOT NULL,
    cache_key TEXT,
    created_us BIGINT NOT NULL,
    UNIQUE (project, run, case_id, judge, criterion, ord, sample, revision)
);

-- Only ratings that were paid for carry a key: errors and repeats of a cached judgment are never served again.
CREATE INDEX judgments_cached ON judgments (project, cache_key, created_us) WHERE cache_key IS NOT NULL;

-- `body` holds numbers and names; rationales and quotes are the text that `reasons_hash` names.
CREATE TABLE verdicts (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    run TEXT NOT NULL,
    case_id TEXT NOT NULL,
    case_hash TEXT NOT NULL,
    revision BIGINT NOT NULL,
    replaces TEXT,
    endpoint TEXT NOT NULL,
    key_id TEXT,
    panel TEXT NOT NULL,
    panel_version TEXT NOT NULL,
    mode TEXT NOT NULL,
    decided BIGINT NOT NULL,
    escalated BIGINT NOT NULL,
    degraded BIGINT NOT NULL,
    disagreement_ppm BIGINT,
    score_ppm BIGINT,
    reasons_hash TEXT,
    body TEXT NOT NULL,
    cost_microusd BIGINT,
    latency_us BIGINT NOT NULL,
    overhead_us BIGINT NOT NULL,
    created_us BIGINT NOT NULL,
    UNIQUE (project, run, case_id, revision)
);

-- Totals of a running run are read from this index alone, never from the bodies.
CREATE INDEX verdicts_totals ON verdicts
    (project, run, case_id, revision, decided, escalated, cost_microusd);

-- Everything a person wrote or a judge replied, apart from the numbers. An erased text keeps its row without its
-- body. `encoding` is `plain`, or `json` for a text with NUL characters, which Postgres cannot hold.
CREATE TABLE texts (
    project TEXT NOT NULL,
    case_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    hash TEXT NOT NULL,
    source TEXT NOT NULL,
    panel TEXT NOT NULL,
    encoding TEXT NOT NULL,
    body TEXT,
    recorded_us BIGINT NOT NULL,
    retained_until_us BIGINT NOT NULL,
    erased_us BIGINT,
    PRIMARY KEY (project, case_id, kind, hash, source, panel)
);

CREATE INDEX texts_by_source ON texts (project, source) WHERE source <> '';

CREATE INDEX texts_expiring ON texts (retained_until_us)
    WHERE body IS NOT NULL AND retained_until_us < 9223372036854775807;

-- The queue: least `severity` first, then most disagreement, then nearest to the threshold, then id.
CREATE TABLE triage (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    verdict_id TEXT NOT NULL,
    run TEXT NOT NULL,
    case_id TEXT NOT NULL,
    case_hash TEXT NOT NULL,
    panel TEXT NOT NULL,
    panel_version TEXT NOT NULL,
    rubric_hash TEXT NOT NULL,
    mode TEXT NOT NULL,
    status TEXT NOT NULL,
    severity BIGINT NOT NULL,
    reasons TEXT NOT NULL,
    disagreement_ppm BIGINT,
    nearness_ppm BIGINT,
    slots BIGINT NOT NULL,
    practice BIGINT NOT NULL,
    inclusion_ppb BIGINT,
    created_us BIGINT NOT NULL,
    resolved_us BIGINT,
    resolution_id TEXT,
    UNIQUE (project, verdict_id)
);

CREATE INDEX triage_queue ON triage (project, status, severity, disagreement_ppm, id);

-- One row per annotator slot once it is claimed; a claim is a lease, its writer proves itself by `fencing_token`.
CREATE TABLE triage_slots (
    project TEXT NOT NULL,
    triage_id TEXT NOT NULL,
    slot BIGINT NOT NULL,
    status TEXT NOT NULL,
    annotator TEXT,
    reversed BIGINT NOT NULL,
    lease_until_us BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL,
    updated_us BIGINT NOT NULL,
    PRIMARY KEY (project, triage_id, slot)
);

CREATE UNIQUE INDEX triage_slots_by_annotator ON triage_slots (project, annotator, triage_id)
    WHERE annotator IS NOT NULL;

-- What a person said. `answer` is the kind (label, unsure, skip, not applicable), `label` its JSON value.
CREATE TABLE annotations (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    triage_id TEXT,
    case_id TEXT NOT NULL,
    case_hash TEXT NOT NULL,
    rubric_hash TEXT NOT NULL,
    criterion TEXT NOT NULL,
    mode TEXT NOT NULL,
    annotator TEXT NOT NULL,
    origin TEXT NOT NULL,
    answer TEXT NOT NULL,
    label TEXT,
    note_hash TEXT,
    reversed BIGINT NOT NULL,
    practice BIGINT NOT NULL,
    inclusion_ppb BIGINT,
    revision BIGINT NOT NULL,
    replaces TEXT,
    created_us BIGINT NOT NULL,
    UNIQUE (project, rubric_hash, criterion, case_id, case_hash, annotator, origin, revision)
);

CREATE INDEX annotations_by_triage ON annotations (project, triage_id, id) WHERE triage_id IS NOT NULL;

-- One fit of one judge's identity; the newest promotion names the one in force.
CREATE TABLE calibrations (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    judge TEXT NOT NULL,
    judge_fingerprint TEXT NOT NULL,
    template_hash TEXT NOT NULL,
    rubric_hash TEXT NOT NULL,
    criterion TEXT NOT NULL,
    mode TEXT NOT NULL,
    scoring TEXT NOT NULL,
    model_asked TEXT NOT NULL,
    model_replied TEXT,
    verdict TEXT NOT NULL,
    labels BIGINT NOT NULL,
    labels_hash TEXT NOT NULL,
    body TEXT NOT NULL,
    created_us BIGINT NOT NULL
);

CREATE INDEX calibrations_by_identity ON calibrations
    (project, judge, criterion, mode, rubric_hash, judge_fingerprint, id);

CREATE TABLE calibration_promotions (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    calibration_id TEXT NOT NULL,
    promoted_by TEXT NOT NULL,
    created_us BIGINT NOT NULL
);

CREATE INDEX calibration_promotions_newest ON calibration_promotions (project, calibration_id, id);

-- Gates, bias audits, drift, agreement: `kind` says which, `body` is the whole report as JSON.
CREATE TABLE reports (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    run TEXT,
    panel TEXT NOT NULL,
    body TEXT NOT NULL,
    created_us BIGINT NOT NULL
);

CREATE INDEX reports_newest ON reports (project, kind, id);

CREATE TABLE incidents (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    body TEXT NOT NULL,
    replaces TEXT,
    created_us BIGINT NOT NULL
);

CREATE INDEX incidents_newest ON incidents (project, id);

-- Shown once, stored hashed. `panels` is a JSON array; an empty one allows all.
CREATE TABLE keys (
    id TEXT NOT NULL PRIMARY KEY,
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    hash TEXT NOT NULL UNIQUE,
    role TEXT NOT NULL,
    panels TEXT NOT NULL,
    sensitivity TEXT,
    budget_microusd BIGINT,
    created_us BIGINT NOT NULL,
    expires_us BIGINT,
    revoked_us BIGINT
);

CREATE INDEX keys_by_project ON keys (project, id);

CREATE INDEX verdicts_by_key ON verdicts (project, key_id, created_us, cost_microusd) WHERE key_id IS NOT NULL;

-- Reserved before spending. The response is rebuilt from the verdict, or is the text that `response_hash` names.
CREATE TABLE idempotency (
    project TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    status TEXT NOT NULL,
    lease_owner TEXT NOT NULL,
    lease_until_us BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL,
    http_status BIGINT,
    verdict_id TEXT,
    run TEXT,
    response_hash TEXT,
    created_us BIGINT NOT NULL,
    expires_us BIGINT NOT NULL,
    PRIMARY KEY (project, endpoint, idempotency_key)
);

CREATE INDEX idempotency_expiring ON idempotency (expires_us);

-- Shards of runs, single-owner duties, and the living gateways themselves.
CREATE TABLE leases (
    project TEXT NOT NULL,
    name TEXT NOT NULL,
    lease_owner TEXT NOT NULL,
    lease_until_us BIGINT NOT NULL,
    fencing_token BIGINT NOT NULL,
    PRIMARY KEY (project, name)
);
