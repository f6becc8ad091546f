-- differs because PostgreSQL compares text by its collation; "C" is the order of bytes, as in Rust.
SELECT tenant_id, id, key, version, active, body, created_at FROM plan
WHERE tenant_id = $1 AND (key COLLATE "C" > $2 OR (key = $2 AND version < $3))
ORDER BY key COLLATE "C", version DESC LIMIT $4
