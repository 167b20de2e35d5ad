INSERT INTO run_work (
    project, run, status, options, stop_asked, lease_owner, lease_until_us, fencing_token
)
VALUES ($1, $2, 'waiting', $3, 0, '', 0, 0)
