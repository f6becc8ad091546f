SELECT body_hash FROM signal WHERE tenant_id = $1 AND task_id = $2 AND dedupe_key = $3
