SELECT id FROM tenant WHERE id = $1 OR name = $2 OR slug = $3
