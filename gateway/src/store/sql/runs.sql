SELECT
    id, project, kind, panel, panel_version, status, input_hash, case_total, settings, created_us,
    finished_us, outcome, finished_cases, decided_cases, escalated_cases, cost_microusd
FROM runs
WHERE project = $1
ORDER BY id DESC
LIMIT $2
