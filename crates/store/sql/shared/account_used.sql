SELECT CAST(coalesce(sum(used_cost), 0) AS BIGINT), CAST(coalesce(sum(used_tokens), 0) AS BIGINT),
    CAST(coalesce(sum(used_calls), 0) AS BIGINT)
FROM account WHERE tenant_id = $1 AND payer = $2 AND day >= $3 AND day <= $4
