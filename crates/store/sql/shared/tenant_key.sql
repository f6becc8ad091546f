-- name: get
SELECT wrapped FROM tenant_key WHERE tenant_id = $1

-- name: insert
INSERT INTO tenant_key (tenant_id, wrapped, created_at) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id) DO NOTHING

-- name: delete
DELETE FROM tenant_key WHERE tenant_id = $1 AND NOT EXISTS (SELECT 1 FROM secret WHERE tenant_id = $1)
