INSERT INTO account (tenant_id, payer, day, used_cost, used_tokens, used_calls) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, payer, day) DO UPDATE SET used_cost = account.used_cost + excluded.used_cost,
    used_tokens = account.used_tokens + excluded.used_tokens, used_calls = account.used_calls + excluded.used_calls
