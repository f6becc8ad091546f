-- name: get
SELECT body, updated_at FROM user_preference WHERE tenant_id = $1 AND user_id = $2

-- name: put
INSERT INTO user_preference (tenant_id, user_id, body, updated_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (tenant_id, user_id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at

-- name: delete
DELETE FROM user_preference WHERE tenant_id = $1 AND user_id = $2
