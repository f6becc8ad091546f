SELECT signals, cancel_requested, CASE WHEN paused_at IS NULL THEN CAST(0 AS BIGINT) ELSE 1 END,
    parent_id, parent_step, intent, input_tokens + $4, output_tokens + $5, cost_nanos + $6,
    (SELECT count(*) FROM outbound_webhook WHERE outbound_webhook.tenant_id = $1 AND active = 1)
FROM task WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
