SELECT id, name, email, roles, timezone, created_at, made_by_user_id FROM app_user WHERE tenant_id = $1 AND id = $2
