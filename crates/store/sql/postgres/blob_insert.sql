-- differs because SQLite keeps files in a folder, not in a table
INSERT INTO blob (tenant_id, hash, size, bytes, touched_at) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (tenant_id, hash) DO UPDATE SET touched_at = excluded.touched_at
