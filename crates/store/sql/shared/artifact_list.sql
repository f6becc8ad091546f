SELECT kind, record_id, key, role, metadata, step_id, tool_key, at FROM artifact_link
WHERE tenant_id = $1 AND task_id = $2 ORDER BY n
