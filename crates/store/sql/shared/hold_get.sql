SELECT reason, held_by, held_at FROM task_hold WHERE tenant_id = $1 AND task_id = $2
