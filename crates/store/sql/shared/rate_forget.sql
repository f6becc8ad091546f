DELETE FROM rate_hit WHERE tenant_id = $1 AND key = $2 AND (at <= $3 OR at > $4)
