-- differs because here RETURNING would make a table for its one row; `task_ending` has asked before
UPDATE task SET status = $4, result = $5, error = $6, current_step = $7, completed_at = $8, waits = '[]',
    workflow_id = NULL, lease_owner = NULL, claimable_at = NULL, paused_at = NULL,
    input_tokens = input_tokens + $9, output_tokens = output_tokens + $10, cost_nanos = cost_nanos + $11
WHERE tenant_id = $1 AND id = $2 AND lease_epoch = $3 AND lease_owner IS NOT NULL
