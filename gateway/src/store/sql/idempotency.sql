SELECT
    project, endpoint, idempotency_key, body_hash, status, lease_owner, lease_until_us, fencing_token, http_status,
    verdict_id, response_hash, created_us, expires_us
FROM idempotency
WHERE project = $1 AND endpoint = $2 AND idempotency_key = $3 AND expires_us > $4
LIMIT 1
