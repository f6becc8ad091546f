UPDATE lesson SET status = $3, since_version = $4, until_version = $5, decided_by = $6, updated_at = $7
WHERE tenant_id = $1 AND id = $2
