INSERT INTO api_key (tenant_id, id, user_id, name, prefix, roles, scopes, expires_at, revoked_at, created_at, key_hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
