SELECT id, task_id, step_id, wait_seq, kind, tool, user_id, reason, input, input_hash, status, created_at, expires_at,
    decided_at, decided_by, note, edited
FROM approval WHERE tenant_id = $1 AND id > $2 ORDER BY id LIMIT $3
