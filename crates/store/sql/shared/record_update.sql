UPDATE record SET props = $3, version = version + 1, updated_at = $4 WHERE tenant_id = $1 AND id = $2
