SELECT
    COUNT(*) AS finished_cases,
    CAST(COALESCE(SUM(v.decided), 0) AS BIGINT) AS decided_cases,
    CAST(COALESCE(SUM(v.escalated), 0) AS BIGINT) AS escalated_cases,
    CAST(COALESCE(SUM(v.cost_microusd), 0) AS BIGINT) AS cost_microusd,
    COUNT(v.cost_microusd) AS priced_cases
FROM verdicts v
WHERE v.project = $1 AND v.run = $2
    AND NOT EXISTS (
        SELECT 1 FROM verdicts newer
        WHERE newer.project = v.project AND newer.run = v.run AND newer.case_id = v.case_id
            AND newer.revision > v.revision
    )
LIMIT 1
