WITH RECURSIVE below (tenant_id, id, user_id, expires_at) AS (
    SELECT tenant_id, id, user_id, expires_at FROM api_key WHERE made_by_key_id = $1 AND revoked_at IS NULL
    UNION
    SELECT made.tenant_id, made.id, made.user_id, made.expires_at
    FROM api_key AS made JOIN below ON made.made_by_key_id = below.id
    WHERE made.revoked_at IS NULL
)
SELECT tenant_id, id, user_id FROM below WHERE expires_at IS NULL OR expires_at > $2 ORDER BY tenant_id, id
