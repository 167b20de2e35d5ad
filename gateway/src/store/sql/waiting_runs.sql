SELECT COUNT(*) AS waiting_runs FROM run_work WHERE status = 'waiting' LIMIT 1
