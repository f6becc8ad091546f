INSERT INTO agent (tenant_id, id, key, body, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
