SELECT id, body, status, source, since_version, until_version, decided_by, created_at, updated_at
FROM lesson WHERE tenant_id = $1 AND since_version IS NOT NULL ORDER BY since_version
