-- differs because SQLite, which has no hop per statement, commits steps and ends one by one
WITH held AS (
    SELECT id, lease_epoch,
        signals * 4 + cancel_requested * 2 + CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END AS told
    FROM task WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) AND lease_owner IS NOT NULL
    FOR NO KEY UPDATE
), ended AS (
    UPDATE task SET status = ending.status, result = ending.result, error = ending.error,
        current_step = ending.current_step, completed_at = ending.at, waits = '[]', workflow_id = NULL,
        lease_owner = NULL, claimable_at = NULL
    FROM unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[])
        AS ending (id, epoch, status, result, error, current_step, at)
    WHERE task.tenant_id = $1 AND task.id = ending.id AND task.lease_epoch = ending.epoch
        AND task.lease_owner IS NOT NULL
    RETURNING task.id, task.lease_epoch,
        task.signals * 4 + task.cancel_requested * 2 + CASE WHEN task.paused_at IS NULL THEN 0 ELSE 1 END AS told,
        task.parent_id, task.parent_step, task.intent, task.input_tokens, task.output_tokens, task.cost_nanos
), fenced AS (
    SELECT id, lease_epoch FROM held UNION ALL SELECT id, lease_epoch FROM ended
), put AS (
    INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
    SELECT given.task_id, seq, given.tenant_id, kind, status, step_id, tool_key, at, body
    FROM unnest($10::uuid[], $11::bigint[], $12::uuid[], $13::text[], $14::text[], $15::text[], $16::text[],
        $17::bigint[], $18::text[], $19::bigint[])
        AS given (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body, epoch)
    JOIN fenced ON fenced.id = given.task_id AND fenced.lease_epoch = given.epoch
)
SELECT id, lease_epoch, told, CAST(NULL AS UUID), CAST(NULL AS TEXT), CAST(NULL AS TEXT), CAST(0 AS BIGINT),
    CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(0 AS BIGINT)
FROM held
UNION ALL
SELECT id, lease_epoch, told, parent_id, parent_step, intent, input_tokens, output_tokens, cost_nanos,
    (SELECT count(*) FROM outbound_webhook WHERE outbound_webhook.tenant_id = $1 AND active = 1)
FROM ended
