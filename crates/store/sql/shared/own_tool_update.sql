UPDATE own_tool SET status = $3, approved_by = $4, note = $5, updated_at = $6 WHERE tenant_id = $1 AND id = $2
