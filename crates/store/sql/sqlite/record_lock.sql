-- differs because PostgreSQL has to lock the row before it is merged into
SELECT id, kind, key, props, version, created_at, updated_at FROM record
WHERE tenant_id = $1 AND kind = $2 AND key = $3
