SELECT id FROM memory WHERE tenant_id = $1 AND subject_type = 'entity' LIMIT 1
