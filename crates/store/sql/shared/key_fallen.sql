WITH RECURSIVE line (id, made_by_key_id, revoked_at) AS (
    SELECT id, made_by_key_id, revoked_at FROM api_key WHERE tenant_id = $1
    UNION
    SELECT line.id, maker.made_by_key_id, maker.revoked_at
    FROM line JOIN api_key AS maker ON maker.id = line.made_by_key_id
)
SELECT id, min(revoked_at) FROM line WHERE revoked_at IS NOT NULL GROUP BY id
