SELECT user_id, day, CAST(sum(cost) AS BIGINT), CAST(sum(tokens) AS BIGINT), CAST(sum(calls) AS BIGINT)
FROM reservation WHERE tenant_id = $1 GROUP BY user_id, day
