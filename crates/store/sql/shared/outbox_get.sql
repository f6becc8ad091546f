SELECT id, channel, target, key, body, task_id, status, attempts, error, created_at, sent_at,
    (SELECT trace_id FROM task WHERE task.tenant_id = outbox.tenant_id AND task.id = outbox.task_id)
FROM outbox
WHERE tenant_id = $1 AND id = $2
