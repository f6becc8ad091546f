-- differs because PostgreSQL compares text by its collation; "C" is the order of bytes, as in Rust.
SELECT tenant_id, id, key, version, active, body, created_at FROM plan
WHERE active = 1 AND (tenant_id > $1 OR (tenant_id = $1 AND key COLLATE "C" > $2))
ORDER BY tenant_id, key COLLATE "C" LIMIT $3
