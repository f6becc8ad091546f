-- name: insert
INSERT INTO knowledge (tenant_id, id, title, filename, content_type, hash, size, status, published, error, pieces, model,
    version, created_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16)

-- name: get
SELECT id, title, filename, content_type, hash, size, status, published, error, pieces, model, version, created_by, created_at,
    updated_at
FROM knowledge WHERE tenant_id = $1 AND id = $2

-- name: list
SELECT id, title, filename, content_type, hash, size, status, published, error, pieces, model, version, created_by, created_at,
    updated_at
FROM knowledge WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR status = $3) AND ($4 < 0 OR published = $4)
ORDER BY id DESC LIMIT $5

-- name: update
UPDATE knowledge SET status = $3, published = $4, error = $5, pieces = $6, model = $7, version = $8, updated_at = $9
WHERE tenant_id = $1 AND id = $2

-- name: delete
DELETE FROM knowledge WHERE tenant_id = $1 AND id = $2

-- name: piece_insert
INSERT INTO knowledge_piece (tenant_id, knowledge_id, n, page, text, vector_model, vector)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: piece_clear
DELETE FROM knowledge_piece WHERE tenant_id = $1 AND knowledge_id = $2
