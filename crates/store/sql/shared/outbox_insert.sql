INSERT INTO outbox (tenant_id, id, task_id, channel, target, key, body, status, created_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, 'pending', $8)
