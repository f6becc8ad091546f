-- differs because PostgreSQL has to lock the head while the chain grows
SELECT seq, hash FROM audit_head WHERE tenant_id = $1
