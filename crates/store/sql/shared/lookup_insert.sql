INSERT INTO record_lookup (tenant_id, record_id, kind, name, value, is_unique) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (tenant_id, record_id, name, value) DO NOTHING
