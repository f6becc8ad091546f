SELECT id, title, filename, content_type, hash, size, status, published, error, pieces, model, version, created_by, created_at,
    updated_at
FROM knowledge WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR status = $3) AND ($4 < 0 OR published = $4)
ORDER BY id DESC LIMIT $5
