SELECT id, name, email, roles, timezone, created_at FROM app_user WHERE tenant_id = $1 AND id = $2
