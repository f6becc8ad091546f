-- differs because here the list of owners is JSON that SQLite reads; the `+` keeps it from walking the tenant's records by
-- id, which it does where it has no statistics
SELECT record.id, record.kind, record.key, record.props, record.version, record.created_at, record.updated_at
FROM record
WHERE record.tenant_id = $1 AND +record.id < $5 AND record.id IN (
    SELECT record_id FROM record_lookup
    WHERE tenant_id = $1 AND kind = $2 AND name = $3 AND value IN (SELECT value FROM json_each($4)))
ORDER BY record.id DESC LIMIT $6
