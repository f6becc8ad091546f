SELECT day, kind, name, provider, user_id, calls, failed, estimated, input_tokens, cached_tokens, output_tokens,
    cost_nanos
FROM usage_day WHERE tenant_id = $1 AND day >= $2 AND day <= $3 ORDER BY day, kind, name, provider, user_id
