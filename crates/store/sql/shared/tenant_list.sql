SELECT id, name, slug, created_at FROM tenant ORDER BY created_at, id
