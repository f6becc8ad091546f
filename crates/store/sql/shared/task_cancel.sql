UPDATE task SET cancel_requested = 1, paused_at = NULL,
    claimable_at = CASE WHEN lease_owner IS NOT NULL OR claimable_at <= kybern_now($3) THEN claimable_at
        ELSE kybern_now($3) END
WHERE tenant_id = $1 AND id = $2 AND completed_at IS NULL
