INSERT INTO tenant (id, name, slug, created_at) VALUES ($1, $2, $3, $4)
