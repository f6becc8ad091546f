SELECT id, channel, target, key, body, task_id, status, attempts, error, created_at, sent_at,
    (SELECT trace_id FROM task WHERE task.tenant_id = outbox.tenant_id AND task.id = outbox.task_id)
FROM outbox
WHERE tenant_id = $1 AND id < $2
    AND (NOT EXISTS (SELECT 1 FROM task
        WHERE task.tenant_id = outbox.tenant_id AND task.id = outbox.task_id
            AND task.channel = 'chat' AND task.user_id IS NOT NULL AND task.user_id <> $4) OR $4 IS NULL)
ORDER BY id DESC LIMIT $3
