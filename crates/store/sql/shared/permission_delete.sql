DELETE FROM user_permission WHERE tenant_id = $1 AND user_id = $2
