-- differs because the head is locked while the chain grows
SELECT seq, hash FROM audit_head WHERE tenant_id = $1 FOR UPDATE
