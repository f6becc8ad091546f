SELECT count(*), CAST(coalesce(sum(updated_at), 0) AS BIGINT), CAST(coalesce(sum(version), 0) AS BIGINT),
    CAST(coalesce(sum(pieces), 0) AS BIGINT)
FROM knowledge WHERE tenant_id = $1 AND published = 1
