-- differs because SQLite compares text by its bytes already and knows no collation "C".
SELECT tenant_id, id, key, version, active, body, created_at FROM plan
WHERE active = 1 AND (tenant_id > $1 OR (tenant_id = $1 AND key > $2))
ORDER BY tenant_id, key LIMIT $3
