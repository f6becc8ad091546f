SELECT id, kind, key, props, version, created_at, updated_at FROM record WHERE tenant_id = $1 AND id = $2
