SELECT seq, hash FROM audit_head WHERE tenant_id = $1
