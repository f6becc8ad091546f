SELECT id, body, status, source, since_version, until_version, decided_by, created_at, updated_at
FROM lesson WHERE tenant_id = $1 AND fingerprint = $2 AND (status <> 'withdrawn' OR $3 = 1)
ORDER BY id DESC LIMIT 1
