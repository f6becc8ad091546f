-- name: list
SELECT id, key, body, version, created_at, updated_at FROM agent WHERE tenant_id = $1

-- name: get
SELECT version, key FROM agent WHERE tenant_id = $1 AND id = $2

-- name: by_key
SELECT id FROM agent WHERE tenant_id = $1 AND key = $2

-- name: insert
INSERT INTO agent (tenant_id, id, key, body, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: update
UPDATE agent SET body = $3, version = $4, updated_at = $5 WHERE tenant_id = $1 AND id = $2

-- name: delete
DELETE FROM agent WHERE tenant_id = $1 AND id = $2
