-- differs because others spend at the same time: whoever judges budgets holds the head of the tenant's audit until the
-- reservations are there
SELECT budget.id, budget.subject, budget.period, budget.limit_cost, budget.limit_tokens, budget.limit_calls,
    budget.created_at, budget.updated_at
FROM audit_head LEFT JOIN budget ON budget.tenant_id = audit_head.tenant_id
    AND (budget.subject IN ('tenant', 'each_user', 'each_task')
        OR budget.subject = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST($2 AS JSONB)))))
WHERE audit_head.tenant_id = $1
ORDER BY budget.created_at, budget.id
FOR UPDATE OF audit_head
