SELECT project, kind, hash, name, body, created_us
FROM versions
WHERE project = $1 AND kind = $2 AND hash = $3
LIMIT 1
