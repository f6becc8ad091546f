SELECT seq, body, at FROM step_row WHERE task_id = $1 AND tenant_id = $2 AND seq > $3 ORDER BY seq LIMIT $4
