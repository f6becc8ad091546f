UPDATE job SET status = $4, last_error = $5, claimable_at = kybern_now($9) + ($6 - $9), finished_at = $7, lease_owner = NULL,
    attempts = attempts - $8
WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL AND status = 'pending'
