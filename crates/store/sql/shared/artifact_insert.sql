INSERT INTO artifact_link (tenant_id, task_id, n, kind, record_id, key, role, metadata, step_id, tool_key, at)
VALUES ($1, $2, (SELECT coalesce(max(known.n), 0) + 1 FROM artifact_link AS known WHERE known.tenant_id = $1
    AND known.task_id = $2), $3, $4, $5, $6, $7, $8, $9, $10)
