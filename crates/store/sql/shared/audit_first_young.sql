SELECT seq FROM audit_event WHERE tenant_id = $1 AND seq > $2 AND seq <= $3 AND at >= $4 ORDER BY seq LIMIT 1
