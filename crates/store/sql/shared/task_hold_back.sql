UPDATE task SET claimable_at = NULL WHERE tenant_id = $1 AND id = $2
