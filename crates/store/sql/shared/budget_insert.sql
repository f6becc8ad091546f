INSERT INTO budget (tenant_id, id, subject, period, limit_cost, limit_tokens, limit_calls, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
