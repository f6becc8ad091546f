UPDATE task SET status = $4, intent = coalesce($5, intent), confidence = coalesce($6, confidence),
    plan_key = coalesce($7, plan_key), plan_version = coalesce($8, plan_version), plan_hash = coalesce($9, plan_hash),
    input_tokens = input_tokens + $10, output_tokens = output_tokens + $11, cost_nanos = cost_nanos + $12
WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
RETURNING signals, cancel_requested, CASE WHEN paused_at IS NULL THEN CAST(0 AS BIGINT) ELSE 1 END
