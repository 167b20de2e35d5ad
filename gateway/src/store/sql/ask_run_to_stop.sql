UPDATE run_work
SET stop_asked = 1
WHERE project = $1 AND run = $2 AND status = 'waiting'
