SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at
FROM memory WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 AND id < $4 AND ($5 = '' OR status = $5)
ORDER BY id DESC LIMIT $6
