SELECT tenant_id, id, key, version, active, body, created_at FROM plan WHERE active = 1
ORDER BY tenant_id, key, version DESC
