INSERT INTO task (id, tenant_id, channel, source, dedupe_key, body_hash, status, input, payload, created_by, user_id,
    plan_key, plan_version, plan_hash, max_steps, confidence_threshold, budget_nanos, trace_id, parent_id, parent_step,
    depth, created_at, started_at, lease_owner, lease_epoch, claimable_at, forked_from, intent, confidence,
    rights, kind)
VALUES ($1, $2, $3, $4, $5, $6,
    CASE WHEN CAST($23 AS TEXT) IS NULL OR CAST($13 AS TEXT) IS NULL THEN 'pending' ELSE 'executing' END,
    $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22,
    $23, $24, CASE WHEN CAST($23 AS TEXT) IS NOT NULL THEN kybern_now($21) + $25
        WHEN $21 < kybern_now($21) THEN $21 ELSE kybern_now($21) END, $26,
    $27, $28, $29, $30)
