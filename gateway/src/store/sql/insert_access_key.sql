INSERT INTO access_keys (
    id, project, name, role, may_ask, sensitivity, budget_microusd, budget_window, secret_hash, created_us,
    expires_us, revoked_us
)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
