SELECT id, key, body, version, created_at, updated_at FROM agent WHERE tenant_id = $1
