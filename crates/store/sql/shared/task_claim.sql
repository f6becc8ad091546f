UPDATE task SET lease_owner = $3, lease_epoch = lease_epoch + 1, claimable_at = kybern_now($4) + $5,
    recoveries = recoveries + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END, started_at = coalesce(started_at, $4)
WHERE tenant_id = $1 AND id = $2
