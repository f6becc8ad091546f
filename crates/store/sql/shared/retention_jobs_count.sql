SELECT count(*) FROM job WHERE tenant_id = $1 AND id < $2 AND status <> 'pending' AND finished_at < $3
