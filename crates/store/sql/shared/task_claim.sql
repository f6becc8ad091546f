UPDATE task SET lease_owner = $3, lease_epoch = lease_epoch + 1, claimable_at = kybern_now($4) + $5,
    recoveries = recoveries + CASE WHEN lease_owner IS NULL THEN 0 ELSE 1 END, started_at = coalesce(started_at, $4),
    status = CASE WHEN status = 'pending' AND plan_hash IS NOT NULL THEN 'executing' ELSE status END
WHERE tenant_id = $1 AND id = $2
