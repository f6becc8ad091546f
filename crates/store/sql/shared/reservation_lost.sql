SELECT tenant_id, id FROM reservation WHERE expires_at <= kybern_now($1) OR (owner <> $2 AND $3 = 1)
ORDER BY expires_at LIMIT $4
