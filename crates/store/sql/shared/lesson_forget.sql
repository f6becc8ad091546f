DELETE FROM lesson WHERE tenant_id = $1 AND id = (
    SELECT id FROM lesson WHERE tenant_id = $1 AND status = 'withdrawn' AND coalesce(until_version, 0) < $2
    ORDER BY updated_at, id LIMIT 1)
