UPDATE turn SET waits = 0 WHERE tenant_id = $1 AND chat_id = $2 AND waits = 1
    AND NOT EXISTS (SELECT 1 FROM turn WHERE tenant_id = $1 AND chat_id = $2 AND waits = 0)
    AND message_id = (SELECT message_id FROM turn WHERE tenant_id = $1 AND chat_id = $2 ORDER BY message_id LIMIT 1)
RETURNING task_id
