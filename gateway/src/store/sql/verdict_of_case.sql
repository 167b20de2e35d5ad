SELECT
    id, project, run, case_id, case_hash, revision, replaces, endpoint, key_id, panel, panel_version,
    mode, decided, escalated, degraded, disagreement_ppm, score_ppm, reasons_hash, body, cost_microusd,
    latency_us, overhead_us, created_us
FROM verdicts
WHERE project = $1 AND run = $2 AND case_id = $3
ORDER BY revision DESC
LIMIT 1
