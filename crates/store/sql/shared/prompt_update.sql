UPDATE prompt SET text = $3, status = $4, authors = $5, approved_by = $6, note = $7, updated_at = $8
WHERE tenant_id = $1 AND id = $2
