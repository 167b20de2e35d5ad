SELECT COUNT(*) AS answer FROM leases WHERE project = $1 LIMIT 1
