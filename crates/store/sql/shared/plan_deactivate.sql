UPDATE plan SET active = 0 WHERE tenant_id = $1 AND key = $2 AND active = 1
