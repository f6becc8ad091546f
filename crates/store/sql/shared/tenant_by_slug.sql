SELECT id, name, slug, created_at FROM tenant WHERE slug = $1
