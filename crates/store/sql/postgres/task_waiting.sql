-- differs because one look at the index gives tenant and time
WITH RECURSIVE open AS (
    (SELECT tenant_id, claimable_at FROM task WHERE claimable_at IS NOT NULL AND paused_at IS NULL ORDER BY tenant_id, claimable_at, id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, next.claimable_at FROM open CROSS JOIN LATERAL (
        SELECT task.tenant_id, task.claimable_at FROM task
        WHERE task.claimable_at IS NOT NULL AND task.paused_at IS NULL AND task.tenant_id > open.tenant_id
        ORDER BY task.tenant_id, task.claimable_at, task.id LIMIT 1
    ) AS next
)
SELECT tenant_id, claimable_at FROM open WHERE claimable_at <= kybern_now($1)
