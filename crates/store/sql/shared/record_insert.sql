INSERT INTO record (tenant_id, id, kind, key, props, version, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, 1, $6, $6)
