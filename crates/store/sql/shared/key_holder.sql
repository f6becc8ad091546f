WITH RECURSIVE line (id, made_by_key_id, revoked_at) AS (
    SELECT id, made_by_key_id, revoked_at FROM api_key WHERE key_hash = $1
    UNION
    SELECT maker.id, maker.made_by_key_id, maker.revoked_at
    FROM api_key AS maker JOIN line ON maker.id = line.made_by_key_id
)
SELECT api_key.tenant_id, api_key.user_id, api_key.id, api_key.roles, app_user.roles, api_key.scopes,
    api_key.expires_at
FROM api_key JOIN app_user ON app_user.tenant_id = api_key.tenant_id AND app_user.id = api_key.user_id
WHERE api_key.key_hash = $1 AND NOT EXISTS (SELECT 1 FROM line WHERE line.revoked_at IS NOT NULL)
