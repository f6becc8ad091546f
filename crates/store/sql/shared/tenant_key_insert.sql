INSERT INTO tenant_key (tenant_id, wrapped, created_at) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id) DO NOTHING
