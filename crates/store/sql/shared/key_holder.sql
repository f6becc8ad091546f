SELECT api_key.tenant_id, api_key.user_id, api_key.id, api_key.roles, app_user.roles, api_key.scopes,
    api_key.expires_at
FROM api_key JOIN app_user ON app_user.tenant_id = api_key.tenant_id AND app_user.id = api_key.user_id
WHERE api_key.key_hash = $1 AND api_key.revoked_at IS NULL
