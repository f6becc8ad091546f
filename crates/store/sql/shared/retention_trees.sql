WITH RECURSIVE root (id) AS (
    SELECT old.id FROM (
        SELECT id FROM task WHERE tenant_id = $1 AND id > $2 AND id < $3 AND parent_id IS NULL AND completed_at < $4
        ORDER BY id LIMIT $6
    ) AS old
), tree (root, id) AS (
    SELECT id, id FROM root
    UNION ALL
    -- CROSS JOIN keeps SQLite to this order; else it goes through all of the tenant's tasks.
    SELECT tree.root, task.id FROM tree CROSS JOIN task WHERE task.tenant_id = $1 AND task.parent_id = tree.id
)
SELECT tree.root, task.id,
    CAST(CASE WHEN task.status IN ('completed', 'failed', 'cancelled') AND task.completed_at < $4
        AND (task.completed_at < $5 OR (task.cost_nanos = 0 AND task.input_tokens = 0 AND task.output_tokens = 0))
        AND NOT EXISTS (SELECT 1 FROM task_hold WHERE task_hold.tenant_id = $1 AND task_hold.task_id = task.id)
        AND NOT EXISTS (SELECT 1 FROM message WHERE message.tenant_id = $1 AND message.task_id = task.id)
        AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.tenant_id = $1 AND outbox.task_id = task.id
            AND outbox.status IN ('pending', 'sending'))
        AND NOT EXISTS (SELECT 1 FROM reservation WHERE reservation.tenant_id = $1 AND reservation.tree_id = task.id)
        THEN 1 ELSE 0 END AS BIGINT)
FROM tree CROSS JOIN task
WHERE task.tenant_id = $1 AND task.id = tree.id
ORDER BY tree.root, task.id
