SELECT attempt, args_hash FROM attempt
WHERE tenant_id = $1 AND task_id = $2 AND step_id = $3 AND generation = $4
