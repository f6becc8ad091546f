INSERT INTO own_tool (tenant_id, id, tool_key, version, definition, bytes, status, author, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
