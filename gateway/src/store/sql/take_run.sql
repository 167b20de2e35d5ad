UPDATE run_work
SET lease_owner = $1, lease_until_us = $3, fencing_token = fencing_token + 1
WHERE status = 'waiting' AND lease_until_us <= $2
    AND (project, run) IN (
        SELECT project, run
        FROM run_work
        WHERE status = 'waiting' AND lease_until_us <= $2 AND stop_asked >= $4
        ORDER BY run, project
        LIMIT 1
    )
RETURNING project, run, options, fencing_token, stop_asked
