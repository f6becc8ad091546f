WITH RECURSIVE up (id, parent_id) AS (
    SELECT task.id, task.parent_id FROM task_hold
    JOIN task ON task.tenant_id = task_hold.tenant_id AND task.id = task_hold.task_id WHERE task_hold.tenant_id = $1
    UNION
    SELECT task.id, task.parent_id FROM up JOIN task ON task.tenant_id = $1 AND task.id = up.parent_id
), held (id) AS (
    SELECT id FROM up
    UNION
    -- CROSS JOIN keeps SQLite to this order; else it goes through all of the tenant's child tasks.
    SELECT task.id FROM held CROSS JOIN task WHERE task.tenant_id = $1 AND task.parent_id = held.id
)
SELECT count(*) FROM outbox
WHERE tenant_id = $1 AND id < $2 AND status <> 'pending' AND status <> 'sending' AND created_at < $3
    AND (task_id IS NULL OR task_id NOT IN (SELECT id FROM held))
