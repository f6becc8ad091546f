DELETE FROM chat WHERE tenant_id = $1 AND id = $2
