SELECT id, body_hash, created_at FROM task WHERE tenant_id = $1 AND source = $2 AND dedupe_key = $3
