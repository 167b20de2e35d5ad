INSERT INTO idempotency (
    project, endpoint, idempotency_key, body_hash, status, lease_owner, lease_until_us, fencing_token, verdict_id,
    created_us, expires_us
)
VALUES ($1, $2, $3, $4, 'reserved', $5, $6, 1, $7, $8, $9)
ON CONFLICT (project, endpoint, idempotency_key) DO UPDATE SET
    body_hash = excluded.body_hash,
    status = excluded.status,
    lease_owner = excluded.lease_owner,
    lease_until_us = excluded.lease_until_us,
    fencing_token = idempotency.fencing_token + 1,
    http_status = NULL,
    verdict_id = CASE
        WHEN idempotency.expires_us > excluded.created_us THEN idempotency.verdict_id
        ELSE excluded.verdict_id
    END,
    run = NULL,
    response_hash = NULL,
    created_us = excluded.created_us,
    expires_us = excluded.expires_us
WHERE idempotency.expires_us <= excluded.created_us
    OR (
        idempotency.status = 'reserved' AND idempotency.lease_until_us <= excluded.created_us
        AND idempotency.body_hash = excluded.body_hash
    )
RETURNING
    project, endpoint, idempotency_key, body_hash, status, lease_owner, lease_until_us, fencing_token, http_status,
    verdict_id, response_hash, created_us, expires_us
