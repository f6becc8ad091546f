UPDATE secret SET version = $3, hosts = $4, description = $5, sealed = $6, created_by = $7, updated_at = $8
WHERE tenant_id = $1 AND name = $2
