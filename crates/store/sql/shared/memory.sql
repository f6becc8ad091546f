-- name: insert
INSERT INTO memory (tenant_id, id, subject_type, subject_id, content, category, importance, trust, status, provenance,
    expires_at, vector_model, vector, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)

-- name: get
SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at
FROM memory WHERE tenant_id = $1 AND id = $2

-- name: list
SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at
FROM memory WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR subject_type = $3) AND ($4 = '' OR status = $4)
ORDER BY id DESC LIMIT $5

-- name: list_subject
SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at
FROM memory WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 AND id < $4 AND ($5 = '' OR status = $5)
ORDER BY id DESC LIMIT $6

-- name: of_subject
SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at, vector_model, vector
FROM memory WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 ORDER BY id

-- name: held
SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at
FROM memory
WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 AND status = 'active'
    AND (expires_at IS NULL OR expires_at > $4)
ORDER BY id

-- name: held_with_vectors
SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at, vector_model, vector
FROM memory
WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 AND status = 'active'
    AND (expires_at IS NULL OR expires_at > $4)
ORDER BY id

-- name: entities_exist
SELECT id FROM memory WHERE tenant_id = $1 AND subject_type = 'entity' LIMIT 1

-- name: count
SELECT count(*) FROM memory WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 AND status <> 'rejected'

-- name: same_words
SELECT id, subject_type, subject_id, content, category, importance, trust, status, provenance, expires_at, created_at,
    updated_at
FROM memory
WHERE tenant_id = $1 AND subject_type = $2 AND subject_id = $3 AND content = $4 AND status <> 'rejected'
    AND (expires_at IS NULL OR expires_at > $5) AND category <> 'event'
ORDER BY status, id LIMIT 1

-- name: update
UPDATE memory SET content = $3, category = $4, importance = $5, trust = $6, status = $7, expires_at = $8, updated_at = $9,
    provenance = $10
WHERE tenant_id = $1 AND id = $2

-- name: vector
UPDATE memory SET vector_model = $4, vector = $5 WHERE tenant_id = $1 AND id = $2 AND updated_at = $3

-- name: delete
DELETE FROM memory WHERE tenant_id = $1 AND id = $2
