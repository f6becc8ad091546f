-- differs because here the list of owners is an array, and because PostgreSQL, where it may, walks the tenant's records or
-- lookups by id: materialized, the owned ones are found by their owners first
WITH owned AS MATERIALIZED (
    SELECT DISTINCT record_id FROM record_lookup
    WHERE tenant_id = $1 AND kind = $2 AND name = $3 AND value = ANY($4) AND record_id < $5)
SELECT record.id, record.kind, record.key, record.props, record.version, record.created_at, record.updated_at
FROM record
WHERE record.tenant_id = $1 AND record.id IN (SELECT record_id FROM owned ORDER BY record_id DESC LIMIT $6)
ORDER BY record.id DESC
