DELETE FROM idempotency WHERE tenant_id = $1 AND principal = $2 AND route = $3 AND key = $4
