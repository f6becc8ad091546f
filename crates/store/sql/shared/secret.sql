-- name: list
SELECT name, hosts, description, version, created_by, created_at, updated_at
FROM secret WHERE tenant_id = $1

-- name: get
SELECT s.name, s.hosts, s.description, s.version, s.created_by, s.created_at, s.updated_at, s.sealed, k.wrapped
FROM secret s JOIN tenant_key k ON k.tenant_id = s.tenant_id WHERE s.tenant_id = $1 AND s.name = $2

-- name: version
SELECT version FROM secret WHERE tenant_id = $1 AND name = $2

-- name: count
SELECT count(*) FROM secret WHERE tenant_id = $1

-- name: insert
INSERT INTO secret (tenant_id, name, version, hosts, description, sealed, created_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: update
UPDATE secret SET version = $3, hosts = $4, description = $5, sealed = $6, created_by = $7, updated_at = $8
WHERE tenant_id = $1 AND name = $2

-- name: delete
DELETE FROM secret WHERE tenant_id = $1 AND name = $2
