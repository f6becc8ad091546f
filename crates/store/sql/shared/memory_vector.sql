UPDATE memory SET vector_model = $4, vector = $5 WHERE tenant_id = $1 AND id = $2 AND updated_at = $3
