SELECT s.name, s.hosts, s.description, s.version, s.created_by, s.created_at, s.updated_at, s.sealed, k.wrapped
FROM secret s JOIN tenant_key k ON k.tenant_id = s.tenant_id WHERE s.tenant_id = $1 AND s.name = $2
