UPDATE task SET input_tokens = input_tokens + $3, output_tokens = output_tokens + $4, cost_nanos = cost_nanos + $5
WHERE tenant_id = $1 AND id = $2
