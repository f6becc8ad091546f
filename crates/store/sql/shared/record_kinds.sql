SELECT kind, count(*) FROM record WHERE tenant_id = $1 GROUP BY kind ORDER BY kind
