INSERT INTO audit_event (tenant_id, seq, at, body, prev_hash, hash) VALUES ($1, $2, $3, $4, $5, $6)
