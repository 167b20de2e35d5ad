SELECT
    id, project, run, case_id, case_hash, revision, replaces, endpoint, key_id, panel, panel_version,
    mode, decided, escalated, degraded, disagreement_ppm, score_ppm, reasons_hash, body, cost_microusd,
    latency_us, overhead_us, created_us
FROM verdicts
WHERE id = $1 AND project = $2
LIMIT 1
