SELECT revoked_at FROM api_key WHERE tenant_id = $1 AND id = $2
