UPDATE job SET claimable_at = CASE WHEN lease_owner IS NULL AND claimable_at <= $1 THEN $2
    ELSE claimable_at - ($1 - $2) END
WHERE claimable_at > $2
