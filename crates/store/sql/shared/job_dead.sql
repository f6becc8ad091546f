SELECT kind, count(*) FROM job WHERE status = 'dead' GROUP BY kind ORDER BY kind
