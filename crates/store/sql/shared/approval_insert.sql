INSERT INTO approval (tenant_id, id, task_id, step_id, wait_seq, kind, tool, user_id, reason, input, input_hash,
    status, created_at, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'pending', $12, $13)
