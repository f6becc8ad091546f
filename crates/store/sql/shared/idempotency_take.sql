INSERT INTO idempotency (tenant_id, principal, route, key, body_hash, taken_at) VALUES ($1, $2, $3, $4, $5, $6)
