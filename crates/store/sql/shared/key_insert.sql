INSERT INTO api_key (tenant_id, id, user_id, name, prefix, roles, scopes, expires_at, revoked_at, created_at, key_hash,
    made_by_key_id, made_by_user_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
