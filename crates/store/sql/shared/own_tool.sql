-- name: versions
SELECT coalesce(max(version), 0), count(*) FROM own_tool WHERE tenant_id = $1 AND tool_key = $2

-- name: insert
INSERT INTO own_tool (tenant_id, id, tool_key, version, definition, bytes, status, author, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)

-- name: get
SELECT id, version, definition, status, author, approved_by, note, created_at, updated_at
FROM own_tool WHERE tenant_id = $1 AND id = $2

-- name: list
SELECT id, version, definition, status, author, approved_by, note, created_at, updated_at
FROM own_tool WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR tool_key = $3) AND ($4 = '' OR status = $4)
ORDER BY id DESC LIMIT $5

-- name: active
SELECT id, version, definition, status, author, approved_by, note, created_at, updated_at
FROM own_tool WHERE tenant_id = $1 AND status = 'active'

-- name: others
SELECT count(*), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM own_tool
WHERE tenant_id = $1 AND tool_key <> $2 AND status = 'active'

-- name: retire
UPDATE own_tool SET status = 'disabled', updated_at = $3
WHERE tenant_id = $1 AND tool_key = $2 AND status = 'active'

-- name: update
UPDATE own_tool SET status = $3, approved_by = $4, note = $5, updated_at = $6 WHERE tenant_id = $1 AND id = $2

-- name: delete
DELETE FROM own_tool WHERE tenant_id = $1 AND tool_key = $2
