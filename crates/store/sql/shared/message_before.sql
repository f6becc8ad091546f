SELECT id, chat_id, role, content, task_id, body, redacted_at, created_at FROM message
WHERE tenant_id = $1 AND chat_id = $2 AND id < $3 ORDER BY id DESC LIMIT $4
