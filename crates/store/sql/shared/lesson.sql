-- name: insert
INSERT INTO lesson (tenant_id, id, kind, body, fingerprint, bytes, status, source, since_version, until_version,
    decided_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)

-- name: get
SELECT id, body, status, source, since_version, until_version, decided_by, created_at, updated_at
FROM lesson WHERE tenant_id = $1 AND id = $2

-- name: same
SELECT id, body, status, source, since_version, until_version, decided_by, created_at, updated_at
FROM lesson WHERE tenant_id = $1 AND fingerprint = $2 AND (status <> 'withdrawn' OR $3 = 1)
ORDER BY id DESC LIMIT 1

-- name: list
SELECT id, body, status, source, since_version, until_version, decided_by, created_at, updated_at
FROM lesson WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR status = $3) AND ($4 = '' OR kind = $4)
ORDER BY id DESC LIMIT $5

-- name: used
SELECT id, body, status, source, since_version, until_version, decided_by, created_at, updated_at
FROM lesson WHERE tenant_id = $1 AND since_version IS NOT NULL ORDER BY since_version

-- name: room
SELECT CAST(coalesce(sum(CASE WHEN status = 'suggested' THEN 1 ELSE 0 END), 0) AS BIGINT),
    CAST(coalesce(sum(CASE WHEN status = 'accepted' THEN 1 ELSE 0 END), 0) AS BIGINT),
    CAST(coalesce(sum(CASE WHEN status = 'accepted' THEN bytes ELSE 0 END), 0) AS BIGINT),
    CAST(count(*) AS BIGINT),
    coalesce(max(since_version), 0), coalesce(max(until_version), 0)
FROM lesson WHERE tenant_id = $1

-- name: update
UPDATE lesson SET status = $3, since_version = $4, until_version = $5, decided_by = $6, updated_at = $7
WHERE tenant_id = $1 AND id = $2
