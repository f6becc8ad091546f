-- differs because SQLite compares text by its bytes already and knows no collation "C".
SELECT tenant_id, id, key, version, active, body, created_at FROM plan
WHERE tenant_id = $1 AND (key > $2 OR (key = $2 AND version < $3))
ORDER BY key, version DESC LIMIT $4
