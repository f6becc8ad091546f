INSERT INTO task_hold (tenant_id, task_id, reason, held_by, held_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, task_id) DO NOTHING
