WITH RECURSIVE line (id, made_by_key_id, revoked_at) AS (
    SELECT id, made_by_key_id, revoked_at FROM api_key WHERE expires_at IS NULL OR expires_at > $1
    UNION
    SELECT line.id, maker.made_by_key_id, maker.revoked_at
    FROM line JOIN api_key AS maker ON maker.id = line.made_by_key_id
)
SELECT api_key.tenant_id, api_key.user_id, api_key.id, api_key.roles, app_user.roles, api_key.scopes,
    api_key.expires_at
FROM api_key JOIN app_user ON app_user.tenant_id = api_key.tenant_id AND app_user.id = api_key.user_id
WHERE (api_key.expires_at IS NULL OR api_key.expires_at > $1)
    AND api_key.id NOT IN (SELECT id FROM line WHERE revoked_at IS NOT NULL)
