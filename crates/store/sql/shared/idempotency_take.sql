INSERT INTO idempotency (tenant_id, principal, route, key, body_hash, taken_at, expires_at, seed, tries)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, 1)
