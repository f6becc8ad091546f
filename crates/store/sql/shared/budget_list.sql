SELECT id, subject, period, limit_cost, limit_tokens, limit_calls, created_at, updated_at
FROM budget WHERE tenant_id = $1 ORDER BY created_at, id
