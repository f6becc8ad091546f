DELETE FROM task_hold WHERE tenant_id = $1 AND task_id = $2
