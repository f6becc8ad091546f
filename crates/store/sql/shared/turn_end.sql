DELETE FROM turn WHERE tenant_id = $1 AND chat_id = $2 AND task_id = $3
