UPDATE task SET claimable_at = $1
WHERE claimable_at IS NOT NULL AND paused_at IS NULL AND (lease_owner IS NOT NULL
    OR (claimable_at > $1 AND created_at > $1))
