SELECT count(*) FROM secret WHERE tenant_id = $1
