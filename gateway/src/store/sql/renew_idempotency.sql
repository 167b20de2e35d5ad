UPDATE idempotency
SET lease_until_us = $5
WHERE project = $1 AND endpoint = $2 AND idempotency_key = $3 AND fencing_token = $4 AND status = 'reserved'
