UPDATE audit_head SET removed_seq = $2, removed_hash = $3 WHERE tenant_id = $1
