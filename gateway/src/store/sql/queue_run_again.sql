UPDATE run_work
SET status = 'waiting', options = $3, stop_asked = 0, reason = NULL, lease_until_us = 0
WHERE project = $1 AND run = $2 AND status = 'ended'
