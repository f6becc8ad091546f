SELECT id, name, slug, created_at FROM tenant WHERE id = $1
