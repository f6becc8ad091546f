UPDATE task SET status = 'pending', completed_at = NULL, result = NULL, error = NULL, cancel_requested = 0,
    claimable_at = kybern_now($3)
WHERE tenant_id = $1 AND id = $2 AND status = 'failed'
