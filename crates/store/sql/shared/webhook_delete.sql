DELETE FROM outbound_webhook WHERE tenant_id = $1 AND id = $2
