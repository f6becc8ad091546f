WITH RECURSIVE kept (id, parent_id, created_at) AS (
    SELECT task.id, task.parent_id, task.created_at FROM task
    -- The first comparison is that of an index.
    WHERE task.tenant_id = $1 AND task.status <> 'completed' AND task.status NOT IN ('failed', 'cancelled')
    UNION
    SELECT task.id, task.parent_id, task.created_at FROM task_hold CROSS JOIN task
    WHERE task_hold.tenant_id = $1 AND task.tenant_id = $1 AND task.id = task_hold.task_id
    UNION
    SELECT task.id, task.parent_id, task.created_at FROM kept
    JOIN task ON task.tenant_id = $1 AND task.id = kept.parent_id
)
SELECT MIN(created_at) FROM kept
