SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at
FROM memory WHERE tenant_id = $1 AND id = $2
