WITH RECURSIVE below (id) AS (
    SELECT id FROM api_key WHERE tenant_id = $1 AND id = $2
    UNION
    SELECT made.id FROM api_key AS made JOIN below ON made.made_by_key_id = below.id WHERE made.tenant_id = $1
)
UPDATE api_key SET revoked_at = $3 WHERE tenant_id = $1 AND revoked_at IS NULL AND id IN (SELECT id FROM below)
