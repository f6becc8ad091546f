SELECT id FROM app_user WHERE tenant_id = $1 AND (id = $2 OR email = $3)
