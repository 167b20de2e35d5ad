SELECT
    id, project, name, role, may_ask, sensitivity, budget_microusd, budget_window, secret_hash, created_us,
    expires_us, revoked_us
FROM access_keys
WHERE id > ''
ORDER BY id
LIMIT $1
