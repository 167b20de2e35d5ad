UPDATE runs
SET status = $3, finished_us = $4, outcome = $5, finished_cases = $6, decided_cases = $7, escalated_cases = $8,
    cost_microusd = $9
WHERE id = $1 AND project = $2
