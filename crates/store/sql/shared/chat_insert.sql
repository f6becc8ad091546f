INSERT INTO chat (tenant_id, id, user_id, agent, title, forked_from, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
