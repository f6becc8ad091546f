-- differs because on PostgreSQL whoever reserves holds the head of the audit until it has; here there is one writer
SELECT id, subject, period, limit_cost, limit_tokens, limit_calls, created_at, updated_at
FROM budget WHERE tenant_id = $1
    AND (subject IN ('tenant', 'each_user', 'each_task') OR subject IN (SELECT value FROM json_each($2)))
ORDER BY created_at, id
