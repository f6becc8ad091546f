INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
