SELECT status, count(*) FROM task WHERE status <> 'completed' GROUP BY status
UNION ALL
SELECT 'completed', (SELECT count(*) FROM task) - (SELECT count(*) FROM task WHERE status <> 'completed')
