INSERT INTO message (tenant_id, chat_id, id, role, content, task_id, body, redacted_at, created_at)
SELECT tenant_id, $3, id, role, content, task_id, body, redacted_at, created_at FROM message
WHERE tenant_id = $1 AND chat_id = $2 AND id <= $4
