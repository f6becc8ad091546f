SELECT id, url, events, active, created_at FROM outbound_webhook WHERE tenant_id = $1 ORDER BY created_at, id
