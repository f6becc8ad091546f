INSERT INTO reservation (tenant_id, id, owner, kind, name, provider, user_id, tree_id, cost, tokens, calls, day,
    expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, kybern_now($13) + $14)
ON CONFLICT (tenant_id, id) DO NOTHING
