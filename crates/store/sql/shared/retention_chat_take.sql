UPDATE chat SET updated_at = updated_at WHERE tenant_id = $1 AND id = $2 AND updated_at < $3
