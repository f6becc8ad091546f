SELECT name, hosts, description, version, created_by, created_at, updated_at
FROM secret WHERE tenant_id = $1
