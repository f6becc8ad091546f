DELETE FROM reservation WHERE tenant_id = $1 AND id = $2
RETURNING kind, name, provider, user_id, tree_id, cost, tokens, calls, day
