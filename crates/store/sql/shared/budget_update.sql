UPDATE budget SET limit_cost = $3, limit_tokens = $4, limit_calls = $5, updated_at = $6
WHERE tenant_id = $1 AND id = $2
