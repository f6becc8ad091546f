SELECT count(*) FROM knowledge WHERE tenant_id = $1
