SELECT id, user_id, agent, title, forked_from, created_at, updated_at FROM chat
WHERE tenant_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3
