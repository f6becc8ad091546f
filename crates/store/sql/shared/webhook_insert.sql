INSERT INTO outbound_webhook (tenant_id, id, url, events, active, created_at) VALUES ($1, $2, $3, $4, $5, $6)
