INSERT INTO usage_day (tenant_id, day, kind, name, provider, user_id, calls, failed, estimated, input_tokens,
    cached_tokens, output_tokens, cost_nanos)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (tenant_id, day, kind, name, provider, user_id) DO UPDATE SET calls = usage_day.calls + excluded.calls,
    failed = usage_day.failed + excluded.failed, estimated = usage_day.estimated + excluded.estimated,
    input_tokens = usage_day.input_tokens + excluded.input_tokens,
    cached_tokens = usage_day.cached_tokens + excluded.cached_tokens,
    output_tokens = usage_day.output_tokens + excluded.output_tokens,
    cost_nanos = usage_day.cost_nanos + excluded.cost_nanos
