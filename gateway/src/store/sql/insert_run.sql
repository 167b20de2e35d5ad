INSERT INTO runs (
    id, project, kind, panel, panel_version, status, input_hash, case_total, settings, created_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
