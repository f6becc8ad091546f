INSERT INTO attachment (tenant_id, task_id, n, filename, content_type, size, hash, source)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
