INSERT INTO run_cases (
    project, run, case_id, case_hash, position, shard, mode, source, sensitivity, inclusion_ppb, facts,
    text_hash, created_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT DO NOTHING
