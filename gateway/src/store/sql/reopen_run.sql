UPDATE runs
SET status = $3, finished_us = NULL, outcome = NULL, finished_cases = NULL, decided_cases = NULL,
    escalated_cases = NULL, cost_microusd = NULL
WHERE id = $1 AND project = $2
