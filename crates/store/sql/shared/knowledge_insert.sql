INSERT INTO knowledge (tenant_id, id, title, filename, content_type, hash, size, status, published, error, pieces, model,
    version, created_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)
