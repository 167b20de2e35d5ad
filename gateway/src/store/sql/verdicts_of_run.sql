SELECT
    v.id, v.project, v.run, v.case_id, v.case_hash, v.revision, v.replaces, v.endpoint, v.key_id, v.panel,
    v.panel_version, v.mode, v.decided, v.escalated, v.degraded, v.disagreement_ppm, v.score_ppm,
    v.reasons_hash, v.body, v.cost_microusd, v.latency_us, v.overhead_us, v.created_us
FROM verdicts v
WHERE v.project = $1 AND v.run = $2 AND v.case_id > $3
    AND NOT EXISTS (
        SELECT 1 FROM verdicts newer
        WHERE newer.project = v.project AND newer.run = v.run AND newer.case_id = v.case_id
            AND newer.revision > v.revision
    )
ORDER BY v.case_id
LIMIT $4
