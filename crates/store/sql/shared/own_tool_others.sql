SELECT count(*), CAST(coalesce(sum(bytes), 0) AS BIGINT) FROM own_tool
WHERE tenant_id = $1 AND tool_key <> $2 AND status = 'active'
