SELECT 'approval', '', count(*) FROM approval WHERE status = 'pending'
UNION ALL
SELECT 'message', status, count(*) FROM outbox WHERE status <> 'sent' GROUP BY status
UNION ALL
SELECT 'job', kind, count(*) FROM job WHERE claimable_at IS NOT NULL GROUP BY kind
UNION ALL
SELECT 'dead', kind, count(*) FROM job WHERE status = 'dead' GROUP BY kind
ORDER BY 1, 2
