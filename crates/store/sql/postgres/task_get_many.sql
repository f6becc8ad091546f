-- differs because SQLite, which has no hop per statement and no arrays, reads the rows one by one
SELECT id, tenant_id, channel, status, input, payload, created_by, user_id, intent, confidence, plan_key, plan_version,
    plan_hash, max_steps, confidence_threshold, budget_nanos, input_tokens, output_tokens, cost_nanos, trace_id,
    parent_id, parent_step, depth, waits, current_step, workflow_id, result, error, created_at, started_at,
    completed_at, paused_at, cancel_requested, recoveries, signals, lease_epoch, forked_from, rights, kind
FROM task WHERE tenant_id = $1 AND id = ANY ($2)
