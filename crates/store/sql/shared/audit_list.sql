SELECT seq, at, body, prev_hash, hash FROM audit_event WHERE tenant_id = $1 AND seq > $2 ORDER BY seq LIMIT $3
