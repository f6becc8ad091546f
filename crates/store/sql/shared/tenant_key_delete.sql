DELETE FROM tenant_key WHERE tenant_id = $1 AND NOT EXISTS (SELECT 1 FROM secret WHERE tenant_id = $1)
