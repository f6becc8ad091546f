UPDATE task SET status = $4, waits = $5, current_step = $6, workflow_id = $7, lease_owner = NULL,
    claimable_at = CASE WHEN signals > $8 OR cancel_requested = 1 THEN kybern_now($9) 
        WHEN $9 <= kybern_now($9) THEN $10 ELSE kybern_now($9) + ($10 - $9) END,
    input_tokens = input_tokens + $11, output_tokens = output_tokens + $12, cost_nanos = cost_nanos + $13
WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
RETURNING signals, cancel_requested, CASE WHEN paused_at IS NULL THEN CAST(0 AS BIGINT) ELSE 1 END,
    CASE WHEN claimable_at <= kybern_now($9) THEN CAST(1 AS BIGINT) ELSE 0 END, intent,
    (SELECT count(*) FROM outbound_webhook WHERE outbound_webhook.tenant_id = $1 AND active = 1)
