UPDATE chat SET updated_at = $3 WHERE tenant_id = $1 AND id = $2
