SELECT id, user_id, name, prefix, roles, scopes, expires_at, revoked_at, created_at,
    made_by_key_id, made_by_user_id FROM api_key
WHERE tenant_id = $1 ORDER BY created_at, id
