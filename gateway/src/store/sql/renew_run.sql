UPDATE run_work
SET lease_until_us = $4
WHERE project = $1 AND run = $2 AND fencing_token = $3 AND status = 'waiting'
RETURNING stop_asked
