SELECT budget.id AS budget_id, NULL AS user_id, CAST(0 AS BIGINT) AS day, CAST(sum(account.used_cost) AS BIGINT) AS cost,
    CAST(sum(account.used_tokens) AS BIGINT) AS tokens, CAST(sum(account.used_calls) AS BIGINT) AS calls
FROM budget JOIN account ON account.tenant_id = budget.tenant_id AND account.payer = budget.subject
    AND account.day >= CASE budget.period WHEN 'day' THEN $4 WHEN 'month' THEN $5 ELSE account.day END
    AND account.day <= CASE budget.period WHEN 'day' THEN $4 WHEN 'month' THEN $6 ELSE account.day END
WHERE budget.tenant_id = $1 AND budget.id > $2 AND budget.id <= $3
GROUP BY budget.id
UNION ALL
SELECT NULL, user_id, day, CAST(sum(cost) AS BIGINT), CAST(sum(tokens) AS BIGINT), CAST(sum(calls) AS BIGINT)
FROM reservation WHERE tenant_id = $1 GROUP BY user_id, day
