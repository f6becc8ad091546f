UPDATE own_tool SET status = 'disabled', updated_at = $3
WHERE tenant_id = $1 AND tool_key = $2 AND status = 'active'
