DELETE FROM user_preference WHERE tenant_id = $1 AND user_id = $2
