-- differs because the row is locked before it is judged
SELECT body_hash, status, body, expires_at, seed FROM idempotency
WHERE tenant_id = $1 AND principal = $2 AND route = $3 AND key = $4 FOR UPDATE
