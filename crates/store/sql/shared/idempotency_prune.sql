DELETE FROM idempotency WHERE tenant_id = $1 AND expires_at IS NOT NULL AND expires_at <= $2
