-- differs because the row is locked before it is judged
SELECT status, waits, signals, paused_at, lease_owner, cancel_requested FROM task WHERE tenant_id = $1 AND id = $2 FOR UPDATE
