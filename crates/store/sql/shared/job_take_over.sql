UPDATE job SET claimable_at = $1 WHERE claimable_at IS NOT NULL
    AND (lease_owner IS NOT NULL OR (claimable_at > $1 AND created_at > $1)
        OR (last_error IS NOT NULL AND claimable_at > $1 + $2))
