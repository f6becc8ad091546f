SELECT removed_seq, removed_hash FROM audit_head WHERE tenant_id = $1
