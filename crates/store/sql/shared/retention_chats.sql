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
SELECT id FROM chat WHERE tenant_id = $1 AND id > $2 AND id < $3 AND updated_at < $4
    AND NOT EXISTS (SELECT 1 FROM turn WHERE turn.tenant_id = $1 AND turn.chat_id = chat.id)
    AND NOT EXISTS (SELECT 1 FROM message WHERE message.tenant_id = $1 AND message.chat_id = chat.id
        AND message.task_id IN (SELECT id FROM held))
ORDER BY id LIMIT $5
