SELECT
    r.id, r.project, r.kind, r.panel, r.panel_version, r.status, r.input_hash, r.case_total, r.settings,
    r.created_us, r.finished_us, r.outcome, r.finished_cases, r.decided_cases, r.escalated_cases,
    r.cost_microusd, w.status AS work_status, w.fencing_token, w.reason, w.options
FROM runs r
LEFT JOIN run_work w ON w.project = r.project AND w.run = r.id
WHERE r.project = $1
ORDER BY r.id DESC
LIMIT $2
