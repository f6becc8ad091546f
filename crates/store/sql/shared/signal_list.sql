SELECT number, body FROM signal WHERE tenant_id = $1 AND task_id = $2 AND number > $3 ORDER BY number
