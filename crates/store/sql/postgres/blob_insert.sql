-- differs because SQLite keeps files in a folder, not in a table
INSERT INTO blob (tenant_id, hash, size, bytes) VALUES ($1, $2, $3, $4) ON CONFLICT (tenant_id, hash) DO NOTHING
