UPDATE agent SET body = $3, version = $4, updated_at = $5 WHERE tenant_id = $1 AND id = $2
