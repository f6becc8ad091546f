INSERT INTO prompt (tenant_id, id, agent, version, text, status, authors, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
