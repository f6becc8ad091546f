INSERT INTO frozen_plan (tenant_id, hash, body) VALUES ($1, $2, $3) ON CONFLICT (tenant_id, hash) DO NOTHING
