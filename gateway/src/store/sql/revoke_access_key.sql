UPDATE access_keys
SET revoked_us = $2
WHERE id = $1 AND revoked_us IS NULL
