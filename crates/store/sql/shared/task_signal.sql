UPDATE task SET signals = signals + 1,
    claimable_at = CASE WHEN lease_owner IS NOT NULL OR completed_at IS NOT NULL OR claimable_at <= kybern_now($3)
        THEN claimable_at ELSE kybern_now($3) END
WHERE tenant_id = $1 AND id = $2
RETURNING signals
