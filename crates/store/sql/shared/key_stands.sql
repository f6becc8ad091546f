WITH RECURSIVE line (id, made_by_key_id, revoked_at) AS (
    SELECT id, made_by_key_id, revoked_at FROM api_key WHERE id = $1
    UNION
    SELECT maker.id, maker.made_by_key_id, maker.revoked_at
    FROM api_key AS maker JOIN line ON maker.id = line.made_by_key_id
)
SELECT api_key.id FROM api_key
WHERE api_key.id = $1 AND NOT EXISTS (SELECT 1 FROM line WHERE line.revoked_at IS NOT NULL)
