SELECT coalesce(min(number), 0) FROM signal WHERE tenant_id = $1 AND task_id = $2 AND number < 0
