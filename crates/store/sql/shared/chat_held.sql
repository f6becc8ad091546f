WITH RECURSIVE up (hold, id, parent_id) AS (
    SELECT task.id, task.id, task.parent_id FROM task_hold
    JOIN task ON task.tenant_id = task_hold.tenant_id AND task.id = task_hold.task_id WHERE task_hold.tenant_id = $1
    UNION
    SELECT up.hold, task.id, task.parent_id FROM up JOIN task ON task.tenant_id = $1 AND task.id = up.parent_id
)
SELECT task_id, reason, held_by, held_at FROM task_hold
WHERE tenant_id = $1 AND task_id IN (SELECT up.hold FROM up
    JOIN message ON message.tenant_id = $1 AND message.chat_id = $2 AND message.task_id = up.id)
ORDER BY task_id LIMIT 1
