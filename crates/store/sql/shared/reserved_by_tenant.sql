SELECT CAST(coalesce(sum(cost), 0) AS BIGINT), CAST(coalesce(sum(tokens), 0) AS BIGINT),
    CAST(coalesce(sum(calls), 0) AS BIGINT)
FROM reservation WHERE tenant_id = $1 AND day >= $2 AND day <= $3
