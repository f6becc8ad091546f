SELECT id, user_id, name, prefix, roles, scopes, expires_at, revoked_at, created_at FROM api_key
WHERE tenant_id = $1 ORDER BY created_at, id
