-- differs because it claims at once: rows that others hold are skipped, and the database's clock decides
WITH due AS (
    SELECT tenant_id, id, lease_owner, claimable_at FROM task
    WHERE tenant_id = $3 AND claimable_at IS NOT NULL AND paused_at IS NULL AND claimable_at <= kybern_now($1)
        AND id <> ALL ($6::uuid[])
    ORDER BY claimable_at, id LIMIT $2
    FOR UPDATE SKIP LOCKED
)
UPDATE task SET lease_owner = $4, lease_epoch = task.lease_epoch + 1, claimable_at = kybern_now($1) + $5,
    recoveries = task.recoveries + CASE WHEN due.lease_owner IS NULL THEN 0 ELSE 1 END,
    started_at = coalesce(task.started_at, kybern_now($1))
FROM due WHERE task.tenant_id = due.tenant_id AND task.id = due.id
RETURNING due.tenant_id, due.id, due.lease_owner, due.claimable_at, kybern_now($1)
