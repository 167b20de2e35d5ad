UPDATE triage
SET status = 'withdrawn'
WHERE project = $1 AND verdict_id = $2 AND status = 'open'
    AND NOT EXISTS (
        SELECT 1 FROM triage_slots s WHERE s.project = triage.project AND s.triage_id = triage.id
    )
