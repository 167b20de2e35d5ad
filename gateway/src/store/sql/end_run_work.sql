UPDATE run_work
SET status = 'ended', reason = $4, lease_until_us = 0
WHERE project = $1 AND run = $2 AND fencing_token = $3 AND status = 'waiting'
