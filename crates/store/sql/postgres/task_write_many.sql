-- differs because SQLite, which has no hop per statement, writes one after the other
WITH held AS (
    SELECT id, lease_epoch,
        signals * 4 + cancel_requested * 2 + CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END AS told
    FROM task WHERE tenant_id = $1 AND id = ANY ($3::uuid[]) AND lease_owner IS NOT NULL
    FOR NO KEY UPDATE
), ended AS (
    UPDATE task SET status = ending.status, result = ending.result, error = ending.error,
        current_step = ending.current_step, completed_at = ending.at, waits = '[]', workflow_id = NULL,
        lease_owner = NULL, claimable_at = NULL
    FROM unnest($4::uuid[], $5::bigint[], $6::text[], $7::text[], $8::text[], $9::text[], $10::bigint[])
        AS ending (id, epoch, status, result, error, current_step, at)
    WHERE task.tenant_id = $1 AND task.id = ending.id AND task.lease_epoch = ending.epoch
        AND task.lease_owner IS NOT NULL
        -- An end of which somebody is to be told is left alone unless more can follow in this transaction.
        AND ($2 = 1 OR (task.parent_id IS NULL AND NOT EXISTS (
            SELECT 1 FROM outbound_webhook WHERE outbound_webhook.tenant_id = $1 AND active = 1)))
    RETURNING task.id, task.lease_epoch,
        task.signals * 4 + task.cancel_requested * 2 + CASE WHEN task.paused_at IS NULL THEN 0 ELSE 1 END AS told,
        task.parent_id, task.parent_step, task.intent, task.input_tokens, task.output_tokens, task.cost_nanos
), fenced AS (
    SELECT id, lease_epoch FROM held UNION ALL SELECT id, lease_epoch FROM ended
), put AS (
    INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
    SELECT given.task_id, seq, given.tenant_id, kind, status, step_id, tool_key, at, body
    FROM unnest($11::uuid[], $12::bigint[], $13::uuid[], $14::text[], $15::text[], $16::text[], $17::text[],
        $18::bigint[], $19::text[], $20::bigint[])
        AS given (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body, epoch)
    JOIN fenced ON fenced.id = given.task_id AND fenced.lease_epoch = given.epoch
), new AS (
    INSERT INTO task (id, tenant_id, channel, source, dedupe_key, body_hash, status, input, payload, created_by,
        user_id, plan_key, plan_version, plan_hash, max_steps, confidence_threshold, budget_nanos, trace_id, parent_id,
        parent_step, depth, created_at, started_at, lease_owner, lease_epoch, claimable_at, forked_from, intent,
        confidence)
    SELECT id, tenant_id, channel, source, dedupe_key, body_hash,
        CASE WHEN worker IS NULL OR plan_hash IS NULL THEN 'pending' ELSE 'executing' END,
        input, payload, created_by, user_id, plan_key, plan_version, plan_hash, max_steps, confidence_threshold,
        budget_nanos, trace_id, parent_id, parent_step, depth, created_at, started_at, worker, lease_epoch,
        CASE WHEN worker IS NULL THEN created_at ELSE kybern_now(created_at) + lease END, forked_from, intent,
        confidence
    FROM unnest($21::uuid[], $22::uuid[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[], $28::text[],
        $29::text[], $30::uuid[], $31::text[], $32::bigint[], $33::text[], $34::bigint[], $35::double precision[],
        $36::bigint[], $37::text[], $38::uuid[], $39::text[], $40::bigint[], $41::bigint[], $42::bigint[],
        $43::text[], $44::bigint[], $45::bigint[], $46::uuid[], $47::text[], $48::double precision[])
        AS given (id, tenant_id, channel, source, dedupe_key, body_hash, input, payload, created_by, user_id, plan_key,
        plan_version, plan_hash, max_steps, confidence_threshold, budget_nanos, trace_id, parent_id, parent_step,
        depth, created_at, started_at, worker, lease_epoch, lease, forked_from, intent, confidence)
)
SELECT id, lease_epoch, told, CAST(NULL AS UUID), CAST(NULL AS TEXT), CAST(NULL AS TEXT), CAST(0 AS BIGINT),
    CAST(0 AS BIGINT), CAST(0 AS BIGINT), CAST(0 AS BIGINT)
FROM held
UNION ALL
SELECT id, lease_epoch, told, parent_id, parent_step, intent, input_tokens, output_tokens, cost_nanos,
    (SELECT count(*) FROM outbound_webhook WHERE outbound_webhook.tenant_id = $1 AND active = 1)
FROM ended
