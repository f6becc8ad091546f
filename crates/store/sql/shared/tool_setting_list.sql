SELECT body FROM tool_setting WHERE tenant_id = $1 ORDER BY tool
