INSERT INTO key_spending (project, key_id, day, microusd, calls)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (project, key_id, day)
DO UPDATE SET
    microusd = key_spending.microusd + excluded.microusd,
    calls = key_spending.calls + excluded.calls
