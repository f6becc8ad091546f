WITH RECURSIVE kept (id, parent_id, created_at) AS (
    SELECT task.id, task.parent_id, task.created_at FROM task
    WHERE task.tenant_id = $1 AND (task.status NOT IN ('completed', 'failed', 'cancelled')
        OR EXISTS (SELECT 1 FROM task_hold WHERE task_hold.tenant_id = $1 AND task_hold.task_id = task.id))
    UNION
    SELECT task.id, task.parent_id, task.created_at FROM kept
    JOIN task ON task.tenant_id = $1 AND task.id = kept.parent_id
)
SELECT MIN(created_at) FROM kept
