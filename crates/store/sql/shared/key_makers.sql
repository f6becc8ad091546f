WITH RECURSIVE line (id) AS (
    SELECT id FROM api_key WHERE tenant_id = $1
    UNION
    SELECT made.made_by_key_id FROM line JOIN api_key AS made ON made.id = line.id
    WHERE made.made_by_key_id IS NOT NULL
)
SELECT id, made_by_key_id, revoked_at FROM api_key WHERE id IN (SELECT id FROM line)
