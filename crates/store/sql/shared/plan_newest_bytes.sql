SELECT coalesce(sum(octet_length(newest.body)), 0)
FROM (SELECT body FROM plan WHERE tenant_id = $1 AND key = $2 ORDER BY version DESC LIMIT 1) AS newest
