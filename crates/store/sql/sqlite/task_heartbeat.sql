-- differs because PostgreSQL skips rows that a commit holds
UPDATE task SET claimable_at = kybern_now($5) + $4
WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
RETURNING signals, cancel_requested, CASE WHEN paused_at IS NULL THEN CAST(0 AS BIGINT) ELSE 1 END
