SELECT record.id, record.kind, record.key, record.props, record.version, record.created_at, record.updated_at
FROM record_lookup JOIN record ON record.tenant_id = record_lookup.tenant_id AND record.id = record_lookup.record_id
WHERE record_lookup.tenant_id = $1 AND record_lookup.kind = $2 AND record_lookup.name = $3 AND record_lookup.value = $4
    AND record_lookup.record_id > $5
ORDER BY record.id LIMIT $6
