DELETE FROM outbox WHERE tenant_id = $1 AND id IN (
    SELECT id FROM outbox WHERE tenant_id = $1 AND id < $2 AND status <> 'pending' AND status <> 'sending' AND created_at < $3
    ORDER BY id LIMIT $4
)
