SELECT id, subject, period, limit_cost, limit_tokens, limit_calls, created_at, updated_at
FROM budget WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3
