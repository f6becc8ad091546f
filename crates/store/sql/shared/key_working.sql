WITH RECURSIVE fell (id) AS (
    SELECT id FROM api_key WHERE revoked_at IS NOT NULL
    UNION
    SELECT made.id FROM fell JOIN api_key AS made ON made.made_by_key_id = fell.id
)
SELECT api_key.tenant_id, api_key.user_id, api_key.id, api_key.roles, app_user.roles, api_key.scopes,
    api_key.expires_at
FROM api_key JOIN app_user ON app_user.tenant_id = api_key.tenant_id AND app_user.id = api_key.user_id
WHERE app_user.roles LIKE '%platform_admin%' AND (api_key.expires_at IS NULL OR api_key.expires_at > $1)
    AND api_key.id NOT IN (SELECT id FROM fell)
