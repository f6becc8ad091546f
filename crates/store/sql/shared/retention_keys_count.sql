SELECT count(*) FROM idempotency WHERE tenant_id = $1 AND expires_at < $2
