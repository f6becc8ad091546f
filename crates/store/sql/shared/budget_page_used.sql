SELECT budget.id, CAST(sum(account.used_cost) AS BIGINT), CAST(sum(account.used_tokens) AS BIGINT),
    CAST(sum(account.used_calls) AS BIGINT)
FROM budget JOIN account ON account.tenant_id = budget.tenant_id AND account.payer = budget.subject
    AND account.day >= CASE budget.period WHEN 'day' THEN $4 WHEN 'month' THEN $5 ELSE account.day END
    AND account.day <= CASE budget.period WHEN 'day' THEN $4 WHEN 'month' THEN $6 ELSE account.day END
WHERE budget.tenant_id = $1 AND budget.id > $2 AND budget.id <= $3
GROUP BY budget.id
