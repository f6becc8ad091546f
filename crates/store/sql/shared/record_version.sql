-- name: insert
INSERT INTO record_version (tenant_id, record_id, version, changed, task_id, step_id, user_id, reason, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: list
SELECT version, changed, task_id, step_id, user_id, reason, created_at FROM record_version
WHERE tenant_id = $1 AND record_id = $2 AND version < $3 ORDER BY version DESC LIMIT $4

-- name: tasks
SELECT task_id, n, role, step_id, tool_key, at FROM artifact_link
WHERE tenant_id = $1 AND record_id = $2 AND task_id <= $3 AND (task_id < $3 OR n > $4)
ORDER BY task_id DESC, n LIMIT $5
