SELECT hash FROM audit_event WHERE tenant_id = $1 AND seq = $2
