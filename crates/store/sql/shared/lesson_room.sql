SELECT CAST(coalesce(sum(CASE WHEN status = 'suggested' THEN 1 ELSE 0 END), 0) AS BIGINT),
    CAST(coalesce(sum(CASE WHEN status = 'accepted' THEN 1 ELSE 0 END), 0) AS BIGINT),
    CAST(coalesce(sum(CASE WHEN status = 'accepted' THEN bytes ELSE 0 END), 0) AS BIGINT),
    CAST(count(*) AS BIGINT),
    coalesce(max(since_version), 0), coalesce(max(until_version), 0)
FROM lesson WHERE tenant_id = $1
