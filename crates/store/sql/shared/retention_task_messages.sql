DELETE FROM outbox WHERE tenant_id = $1 AND task_id = $2
    AND EXISTS (SELECT 1 FROM task WHERE task.tenant_id = $1 AND task.id = $2 AND task.channel = 'chat')
