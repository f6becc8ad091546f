-- differs because here the list of subjects is JSON that PostgreSQL reads
SELECT id, subject, period, limit_cost, limit_tokens, limit_calls, created_at, updated_at
FROM budget WHERE tenant_id = $1
    AND (subject IN ('tenant', 'each_user', 'each_task')
        OR subject = ANY (ARRAY(SELECT jsonb_array_elements_text(CAST($2 AS JSONB)))))
ORDER BY created_at, id
