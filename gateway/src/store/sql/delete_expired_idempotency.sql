DELETE FROM idempotency
WHERE expires_us <= $1
    AND (project, endpoint, idempotency_key) IN (
        SELECT project, endpoint, idempotency_key
        FROM idempotency
        WHERE expires_us <= $1
        ORDER BY expires_us, project, endpoint, idempotency_key
        LIMIT 500
    )
