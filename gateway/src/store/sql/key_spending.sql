SELECT
    CAST(COALESCE(SUM(microusd), 0) AS BIGINT) AS microusd,
    CAST(COALESCE(SUM(calls), 0) AS BIGINT) AS calls,
    (SELECT MAX(day) FROM key_spending WHERE project = $1 AND key_id = $2) AS last_day
FROM key_spending
WHERE project = $1 AND key_id = $2 AND day >= $3
LIMIT 1
