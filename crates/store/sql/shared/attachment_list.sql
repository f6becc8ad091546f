SELECT n, filename, content_type, size, hash, source FROM attachment WHERE tenant_id = $1 AND task_id = $2 ORDER BY n
