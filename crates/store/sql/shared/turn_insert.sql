INSERT INTO turn (tenant_id, task_id, chat_id, message_id, waits) VALUES ($1, $2, $3, $4, $5)
