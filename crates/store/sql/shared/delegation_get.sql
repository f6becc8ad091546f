SELECT step_id, seq, deadline FROM delegation WHERE tenant_id = $1 AND task_id = $2 AND workflow_id = $3
