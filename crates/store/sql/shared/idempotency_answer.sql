UPDATE idempotency SET status = $5, body = $6, expires_at = $7
WHERE tenant_id = $1 AND principal = $2 AND route = $3 AND key = $4
