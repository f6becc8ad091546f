INSERT INTO message (tenant_id, chat_id, id, role, content, task_id, body, redacted_at, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
