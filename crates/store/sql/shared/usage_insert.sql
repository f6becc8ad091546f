INSERT INTO usage_row (tenant_id, task_id, seq, step_id, tool_key, generation, attempt, input_tokens, output_tokens,
    cost_nanos, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
