INSERT INTO attempt (tenant_id, task_id, step_id, generation, attempt, n, tool, effect, args_hash, epoch, at, rendered,
    tool_hash)
VALUES ($1, $2, $3, $4, $5, (SELECT coalesce(max(known.n), 0) + 1 FROM attempt AS known WHERE known.tenant_id = $1
    AND known.task_id = $2), $6, $7, $8, $9, $10, $11, $12)
