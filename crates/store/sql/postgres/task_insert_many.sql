-- differs because SQLite, which has no hop per statement, inserts tasks one by one
INSERT INTO task (id, tenant_id, channel, source, dedupe_key, body_hash, status, input, payload, created_by, user_id,
    plan_key, plan_version, plan_hash, max_steps, confidence_threshold, budget_nanos, trace_id, parent_id, parent_step,
    depth, created_at, started_at, lease_owner, lease_epoch, claimable_at, forked_from, intent, confidence)
SELECT id, tenant_id, channel, source, dedupe_key, body_hash,
    CASE WHEN worker IS NULL OR plan_hash IS NULL THEN 'pending' ELSE 'executing' END,
    input, payload, created_by, user_id, plan_key, plan_version, plan_hash, max_steps, confidence_threshold,
    budget_nanos, trace_id, parent_id, parent_step, depth, created_at, started_at, worker, lease_epoch,
    CASE WHEN worker IS NULL THEN created_at ELSE kybern_now(created_at) + lease END, forked_from, intent, confidence
FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
    $10::uuid[], $11::text[], $12::bigint[], $13::text[], $14::bigint[], $15::double precision[], $16::bigint[],
    $17::text[], $18::uuid[], $19::text[], $20::bigint[], $21::bigint[], $22::bigint[], $23::text[], $24::bigint[],
    $25::bigint[], $26::uuid[], $27::text[], $28::double precision[])
    AS given (id, tenant_id, channel, source, dedupe_key, body_hash, input, payload, created_by, user_id, plan_key,
    plan_version, plan_hash, max_steps, confidence_threshold, budget_nanos, trace_id, parent_id, parent_step, depth,
    created_at, started_at, worker, lease_epoch, lease, forked_from, intent, confidence)
