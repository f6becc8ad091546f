UPDATE task SET claimable_at = kybern_now($3)
WHERE tenant_id = $1 AND id = $2 AND claimable_at IS NULL AND completed_at IS NULL AND lease_owner IS NULL
