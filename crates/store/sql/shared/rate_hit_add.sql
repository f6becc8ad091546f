INSERT INTO rate_hit (tenant_id, key, at, hits) VALUES ($1, $2, $3, 1)
ON CONFLICT (tenant_id, key, at) DO UPDATE SET hits = rate_hit.hits + 1
