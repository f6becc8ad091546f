SELECT 'approval', min(created_at) FROM approval WHERE status = 'pending'
UNION ALL
SELECT 'delegation', min((
    SELECT max(delegation.at) FROM delegation
    WHERE delegation.tenant_id = task.tenant_id AND delegation.task_id = task.id
)) FROM task WHERE task.status = 'delegated'
UNION ALL
SELECT 'message', min(created_at) FROM outbox WHERE status = 'pending' OR status = 'sending'
