-- name: last_version
SELECT coalesce(max(version), 0) FROM prompt WHERE tenant_id = $1 AND agent = $2

-- name: insert
INSERT INTO prompt (tenant_id, id, agent, version, text, status, authors, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)

-- name: get
SELECT id, agent, version, text, status, authors, approved_by, note, created_at, updated_at
FROM prompt WHERE tenant_id = $1 AND id = $2

-- name: list
SELECT id, agent, version, text, status, authors, approved_by, note, created_at, updated_at
FROM prompt WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR agent = $3) AND ($4 = '' OR status = $4)
ORDER BY id DESC LIMIT $5

-- name: active
SELECT id, agent, version, text, status, authors, approved_by, note, created_at, updated_at
FROM prompt WHERE tenant_id = $1 AND status = 'active'

-- name: active_of
SELECT id FROM prompt WHERE tenant_id = $1 AND agent = $2 AND status = 'active'

-- name: update
UPDATE prompt SET text = $3, status = $4, authors = $5, approved_by = $6, note = $7, updated_at = $8
WHERE tenant_id = $1 AND id = $2
