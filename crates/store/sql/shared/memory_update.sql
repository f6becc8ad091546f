UPDATE memory SET content = $3, category = $4, importance = $5, trust = $6, status = $7, expires_at = $8, updated_at = $9
WHERE tenant_id = $1 AND id = $2
