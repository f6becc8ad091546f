SELECT count(*), coalesce(sum(octet_length(body)), 0) FROM plan WHERE tenant_id = $1 AND active = 1 AND key <> $2
