SELECT used.cost, used.tokens, used.calls, held.cost, held.tokens, held.calls
FROM (SELECT CAST(coalesce(sum(used_cost), 0) AS BIGINT) AS cost, CAST(coalesce(sum(used_tokens), 0) AS BIGINT) AS tokens,
    CAST(coalesce(sum(used_calls), 0) AS BIGINT) AS calls
    FROM account WHERE tenant_id = $1 AND payer = $2 AND day >= $3 AND day <= $4) AS used,
(SELECT CAST(coalesce(sum(cost), 0) AS BIGINT) AS cost, CAST(coalesce(sum(tokens), 0) AS BIGINT) AS tokens,
    CAST(coalesce(sum(calls), 0) AS BIGINT) AS calls
    FROM reservation WHERE tenant_id = $1 AND tree_id = $5) AS held
