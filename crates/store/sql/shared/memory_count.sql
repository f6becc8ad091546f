SELECT count(*) FROM memory WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 AND status <> 'rejected'
