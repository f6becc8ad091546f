UPDATE task SET claimable_at = $1
WHERE claimable_at IS NOT NULL AND paused_at IS NOT NULL AND lease_owner IS NOT NULL
