DELETE FROM knowledge WHERE tenant_id = $1 AND id = $2
