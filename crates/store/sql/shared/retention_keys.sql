DELETE FROM idempotency WHERE tenant_id = $1 AND (principal, route, key) IN (
    SELECT principal, route, key FROM idempotency WHERE tenant_id = $1 AND expires_at < $2 LIMIT $3
)
