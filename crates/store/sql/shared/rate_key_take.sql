INSERT INTO rate_key (tenant_id, key, touched_at) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, key) DO UPDATE SET touched_at = excluded.touched_at
