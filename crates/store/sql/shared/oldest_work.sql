SELECT 'task', min(claimable_at) FROM task WHERE claimable_at IS NOT NULL AND paused_at IS NULL
UNION ALL
SELECT 'approval', min(created_at) FROM approval WHERE status = 'pending'
UNION ALL
SELECT 'delegation', min((
    SELECT max(delegation.at) FROM delegation
    WHERE delegation.tenant_id = task.tenant_id AND delegation.task_id = task.id
)) FROM task WHERE task.status = 'delegated'
UNION ALL
SELECT 'job', min(claimable_at) FROM job WHERE claimable_at IS NOT NULL
UNION ALL
SELECT 'message', min(created_at) FROM outbox WHERE status = 'pending' OR status = 'sending'
