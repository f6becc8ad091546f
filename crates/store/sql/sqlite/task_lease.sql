-- differs because PostgreSQL has to lock the row, so that nobody writes in between
SELECT signals, cancel_requested, CASE WHEN paused_at IS NULL THEN CAST(0 AS BIGINT) ELSE 1 END, lease_epoch, lease_owner
FROM task WHERE tenant_id = $1 AND id = $2
