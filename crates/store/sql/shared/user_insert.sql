INSERT INTO app_user (tenant_id, id, name, email, roles, timezone, created_at, made_by_user_id)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
