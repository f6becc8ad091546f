INSERT INTO job (tenant_id, id, kind, payload, dedupe_key, status, max_attempts, claimable_at, created_at)
VALUES ($1, $2, $3, $4, $5, 'pending', $6, $7, $8)
