-- differs because a row that a commit holds right now is skipped: waiting for it could be a deadlock
WITH held AS (
    SELECT id FROM task WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
    FOR NO KEY UPDATE SKIP LOCKED
)
UPDATE task SET claimable_at = kybern_now($5) + $4
FROM held WHERE task.tenant_id = $1 AND task.id = held.id
RETURNING task.signals, task.cancel_requested, CASE WHEN task.paused_at IS NULL THEN CAST(0 AS BIGINT) ELSE 1 END
