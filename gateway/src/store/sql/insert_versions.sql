INSERT INTO versions (
    project, kind, hash, name, body, created_us
)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT DO NOTHING
