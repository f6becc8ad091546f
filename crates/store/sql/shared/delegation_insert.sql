INSERT INTO delegation (tenant_id, task_id, workflow_id, step_id, workflow, deadline, seq, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (task_id, workflow_id) DO NOTHING
