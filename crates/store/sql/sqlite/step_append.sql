-- differs because PostgreSQL has to lock the task's row, so that no claim comes in between
INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
SELECT $1, $2, $3, $4, $5, $6, $7, $8, $9
WHERE EXISTS (SELECT 1 FROM task WHERE id = $1 AND tenant_id = $3 AND lease_epoch = $10 AND lease_owner IS NOT NULL)
RETURNING (SELECT signals * 4 + cancel_requested * 2 + (paused_at IS NOT NULL) FROM task WHERE id = $1)
