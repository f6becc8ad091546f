SELECT coalesce(max(seq), 0) FROM step_row WHERE task_id = $1 AND tenant_id = $2
