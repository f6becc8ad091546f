UPDATE task SET lease_owner = NULL, claimable_at = kybern_now($4)
WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
