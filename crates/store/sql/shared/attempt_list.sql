SELECT step_id, generation, attempt, tool, effect, args_hash, at, rendered, tool_hash FROM attempt
WHERE tenant_id = $1 AND task_id = $2 ORDER BY n
