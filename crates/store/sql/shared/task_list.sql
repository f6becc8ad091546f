SELECT id, tenant_id, channel, status, substr(input, 1, 2000),
    CASE WHEN channel = 'email' AND length(payload) <= 65536 THEN payload ELSE 'null' END, created_by, user_id, intent, confidence, plan_key, plan_version,
    plan_hash, max_steps, confidence_threshold, budget_nanos, input_tokens, output_tokens, cost_nanos, trace_id,
    parent_id, parent_step, depth,
    CASE WHEN length(waits) <= 16384 THEN waits ELSE '[]' END, current_step, workflow_id, CAST(NULL AS TEXT), error, created_at, started_at,
    completed_at, paused_at, cancel_requested, recoveries, signals, lease_epoch, forked_from, rights, kind
FROM task
WHERE tenant_id = $1 AND id < $2
    AND (CAST($3 AS TEXT) IS NULL OR status = $3) AND (CAST($4 AS TEXT) IS NULL OR intent = $4) AND (CAST($5 AS TEXT) IS NULL OR channel = $5)
    AND (channel <> 'chat' OR user_id IS NULL OR user_id = $7 OR $7 IS NULL)
ORDER BY id DESC LIMIT $6
