INSERT INTO verdicts (
    id, project, run, case_id, case_hash, revision, replaces, endpoint, key_id, panel, panel_version,
    mode, decided, escalated, degraded, disagreement_ppm, score_ppm, reasons_hash, body, cost_microusd,
    latency_us, overhead_us, created_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
    $23)
ON CONFLICT DO NOTHING
