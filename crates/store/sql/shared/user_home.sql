SELECT tenant_id FROM app_user WHERE id = $1
