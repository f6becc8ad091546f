SELECT version FROM secret WHERE tenant_id = $1 AND name = $2
