SELECT at, hits FROM rate_hit WHERE tenant_id = $1 AND key = $2 ORDER BY at
