SELECT record_id FROM record_lookup
WHERE tenant_id = $1 AND kind = $2 AND name = $3 AND value = $4 AND is_unique = 1
