DELETE FROM usage_row WHERE tenant_id = $1 AND task_id = $2
