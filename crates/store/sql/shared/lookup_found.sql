SELECT record_id FROM record_lookup
WHERE tenant_id = $1 AND kind = $2 AND name = $3 AND value = $4
ORDER BY record_id LIMIT $5
