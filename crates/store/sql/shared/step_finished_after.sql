SELECT seq FROM step_row
WHERE task_id = $1 AND tenant_id = $2 AND seq > $3 AND step_id = $4 AND kind = 'finished' LIMIT 1
