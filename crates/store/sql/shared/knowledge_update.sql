UPDATE knowledge SET status = $3, published = $4, error = $5, pieces = $6, model = $7, version = $8, updated_at = $9
WHERE tenant_id = $1 AND id = $2
