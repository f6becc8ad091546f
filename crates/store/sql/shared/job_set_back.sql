UPDATE job SET claimable_at = CASE WHEN lease_owner IS NULL THEN $2 ELSE claimable_at - ($1 - $2) END
WHERE claimable_at > $2 AND (lease_owner IS NOT NULL OR claimable_at <= $1)
