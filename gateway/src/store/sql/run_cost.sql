SELECT CAST(COALESCE(SUM(cost_microusd), 0) AS BIGINT) AS cost_microusd
FROM judgments
WHERE project = $1 AND run = $2
LIMIT 1
