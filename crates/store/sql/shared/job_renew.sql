UPDATE job SET claimable_at = kybern_now($5) + $4
WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL AND status = 'pending'
