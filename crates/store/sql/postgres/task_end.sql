-- differs because here one round trip does and tells
UPDATE task SET status = $4, result = $5, error = $6, current_step = $7, completed_at = $8, waits = '[]',
    workflow_id = NULL, lease_owner = NULL, claimable_at = NULL, paused_at = NULL,
    input_tokens = input_tokens + $9, output_tokens = output_tokens + $10, cost_nanos = cost_nanos + $11
WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
RETURNING signals, cancel_requested, CASE WHEN paused_at IS NULL THEN CAST(0 AS BIGINT) ELSE 1 END,
    parent_id, parent_step, intent, input_tokens, output_tokens, cost_nanos,
    (SELECT count(*) FROM outbound_webhook WHERE outbound_webhook.tenant_id = $1 AND active = 1)
