SELECT task_id FROM turn WHERE tenant_id = $1 AND chat_id = $2 AND waits = 1
