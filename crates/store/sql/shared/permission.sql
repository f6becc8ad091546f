-- name: put
INSERT INTO user_permission (tenant_id, user_id, policy, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET policy = excluded.policy, updated_at = excluded.updated_at

-- name: delete
DELETE FROM user_permission WHERE tenant_id = $1 AND user_id = $2
