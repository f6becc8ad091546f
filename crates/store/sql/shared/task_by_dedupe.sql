SELECT id, body_hash FROM task WHERE tenant_id = $1 AND source = $2 AND dedupe_key = $3
