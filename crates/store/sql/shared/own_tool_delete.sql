DELETE FROM own_tool WHERE tenant_id = $1 AND tool_key = $2
