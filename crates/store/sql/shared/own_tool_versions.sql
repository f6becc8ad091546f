SELECT coalesce(max(version), 0), count(*) FROM own_tool WHERE tenant_id = $1 AND tool_key = $2
