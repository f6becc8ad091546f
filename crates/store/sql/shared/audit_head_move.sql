UPDATE audit_head SET seq = $2, hash = $3 WHERE tenant_id = $1
