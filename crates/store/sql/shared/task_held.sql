SELECT signals, cancel_requested, CASE WHEN paused_at IS NULL THEN CAST(0 AS BIGINT) ELSE 1 END
FROM task WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
