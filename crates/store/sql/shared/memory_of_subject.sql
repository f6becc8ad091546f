SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at, vector_model, vector
FROM memory WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 ORDER BY id
