INSERT INTO plan (tenant_id, id, key, version, active, body, created_at) VALUES ($1, $2, $3, $4, 1, $5, $6)
