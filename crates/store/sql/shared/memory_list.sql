SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at
FROM memory WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR subject_type = $3) AND ($4 = '' OR status = $4)
ORDER BY id DESC LIMIT $5
