SELECT
    judge, source, model_replied,
    COUNT(DISTINCT call_id) AS calls,
    COUNT(DISTINCT CASE WHEN cost_microusd IS NOT NULL THEN call_id END) AS priced_calls,
    CAST(COALESCE(SUM(cost_microusd), 0) AS BIGINT) AS cost_microusd,
    CAST(COALESCE(SUM(latency_us), 0) AS BIGINT) AS latency_us,
    CAST(COALESCE(MAX(latency_us), 0) AS BIGINT) AS max_latency_us
FROM judgments
WHERE project = $1 AND run = $2
GROUP BY judge, source, model_replied
ORDER BY judge, source, model_replied
LIMIT 10000
