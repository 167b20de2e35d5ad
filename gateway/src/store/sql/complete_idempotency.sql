UPDATE idempotency
SET status = 'finished', http_status = $5, response_hash = $6
WHERE project = $1 AND endpoint = $2 AND idempotency_key = $3 AND fencing_token = $4 AND status = 'reserved'
