INSERT INTO app_user (tenant_id, id, name, email, roles, timezone, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)
