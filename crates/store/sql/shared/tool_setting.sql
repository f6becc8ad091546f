-- name: list
SELECT tool, updated_at, body FROM tool_setting WHERE tenant_id = $1 ORDER BY tool

-- name: put
INSERT INTO tool_setting (tenant_id, tool, body, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_id, tool) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at
