UPDATE app_user SET roles = $3 WHERE tenant_id = $1 AND id = $2
