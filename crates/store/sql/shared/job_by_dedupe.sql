SELECT id FROM job WHERE tenant_id = $1 AND kind = $2 AND dedupe_key = $3
