UPDATE task SET dedupe_key = NULL WHERE tenant_id = $1 AND id = $2
