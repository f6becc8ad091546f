INSERT INTO rate_key (tenant_id, key, touched_at) VALUES ($1, $2, $3)
ON CONFLICT (tenant_id, key) DO UPDATE SET touched_at =
    CASE WHEN rate_key.touched_at > excluded.touched_at AND rate_key.touched_at <= excluded.touched_at + $4
    THEN rate_key.touched_at ELSE excluded.touched_at END
RETURNING touched_at
