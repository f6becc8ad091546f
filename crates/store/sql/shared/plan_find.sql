SELECT tenant_id, id, key, version, active, body, created_at FROM plan WHERE tenant_id = $1 AND id = $2
