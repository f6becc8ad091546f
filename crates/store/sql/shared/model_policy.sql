-- name: get
SELECT providers FROM model_policy WHERE tenant_id = $1

-- name: put
INSERT INTO model_policy (tenant_id, providers, updated_at) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id) DO UPDATE SET providers = excluded.providers, updated_at = excluded.updated_at
