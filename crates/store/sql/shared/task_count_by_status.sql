SELECT status, count(*) FROM task GROUP BY status
