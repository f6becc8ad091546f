SELECT id, channel, target, key, body, task_id, status, attempts, error, created_at, sent_at FROM outbox
WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3
