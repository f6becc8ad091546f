-- differs because SQLite, which has no hop per statement, writes one after the other
WITH free AS (
    -- Rows that another transaction holds are left alone: waiting for one while holding others could end in a deadlock.
    SELECT id, lease_epoch,
        signals * 4 + cancel_requested * 2 + CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END AS told
    FROM task WHERE tenant_id = $1 AND id = ANY ($2::uuid[]) AND lease_owner IS NOT NULL
    ORDER BY id
    FOR NO KEY UPDATE SKIP LOCKED
), ended AS (
    UPDATE task SET status = ending.status, result = ending.result, error = ending.error,
        current_step = ending.current_step, completed_at = ending.at, waits = '[]', workflow_id = NULL,
        lease_owner = NULL, claimable_at = NULL, paused_at = NULL
    FROM unnest($3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bigint[])
        AS ending (id, epoch, status, result, error, current_step, at)
    JOIN free ON free.id = ending.id AND free.lease_epoch = ending.epoch
    WHERE task.tenant_id = $1 AND task.id = ending.id AND task.lease_epoch = ending.epoch
        AND task.lease_owner IS NOT NULL
        -- An end of which somebody is to be told takes more than this statement.
        AND task.parent_id IS NULL AND NOT EXISTS (
            SELECT 1 FROM outbound_webhook WHERE outbound_webhook.tenant_id = $1 AND active = 1)
    RETURNING task.id
), fenced AS (
    SELECT id, lease_epoch, told FROM free WHERE id <> ALL ($3::uuid[])
    UNION ALL
    SELECT free.id, free.lease_epoch, free.told FROM free JOIN ended ON ended.id = free.id
), put AS (
    INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
    SELECT given.task_id, seq, given.tenant_id, kind, status, step_id, tool_key, at, body
    FROM unnest($10::uuid[], $11::bigint[], $12::uuid[], $13::text[], $14::text[], $15::text[], $16::text[],
        $17::bigint[], $18::text[], $19::bigint[])
        AS given (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body, epoch)
    JOIN fenced ON fenced.id = given.task_id AND fenced.lease_epoch = given.epoch
), new AS (
    INSERT INTO task (id, tenant_id, channel, source, dedupe_key, body_hash, status, input, payload, created_by,
        user_id, plan_key, plan_version, plan_hash, max_steps, confidence_threshold, budget_nanos, trace_id, parent_id,
        parent_step, depth, created_at, started_at, lease_owner, lease_epoch, claimable_at, forked_from, intent,
        confidence, rights, kind)
    SELECT id, tenant_id, channel, source, dedupe_key, body_hash,
        CASE WHEN worker IS NULL OR plan_hash IS NULL THEN 'pending' ELSE 'executing' END,
        input, payload, created_by, user_id, plan_key, plan_version, plan_hash, max_steps, confidence_threshold,
        budget_nanos, trace_id, parent_id, parent_step, depth, created_at, started_at, worker, lease_epoch,
        CASE WHEN worker IS NOT NULL THEN kybern_now(created_at) + lease
            ELSE least(created_at, kybern_now(created_at)) END, forked_from, intent,
        confidence, rights, kind
    FROM unnest($20::uuid[], $21::uuid[], $22::text[], $23::text[], $24::text[], $25::text[], $26::text[], $27::text[],
        $28::text[], $29::uuid[], $30::text[], $31::bigint[], $32::text[], $33::bigint[], $34::double precision[],
        $35::bigint[], $36::text[], $37::uuid[], $38::text[], $39::bigint[], $40::bigint[], $41::bigint[],
        $42::text[], $43::bigint[], $44::bigint[], $45::uuid[], $46::text[], $47::double precision[], $48::bigint[], $49::text[])
        AS given (id, tenant_id, channel, source, dedupe_key, body_hash, input, payload, created_by, user_id, plan_key,
        plan_version, plan_hash, max_steps, confidence_threshold, budget_nanos, trace_id, parent_id, parent_step,
        depth, created_at, started_at, worker, lease_epoch, lease, forked_from, intent, confidence,
        rights, kind)
)
SELECT id, lease_epoch, told FROM fenced
