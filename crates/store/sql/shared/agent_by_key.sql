SELECT id FROM agent WHERE tenant_id = $1 AND key = $2
