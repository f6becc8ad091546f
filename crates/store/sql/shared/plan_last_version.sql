SELECT coalesce(max(version), 0) FROM plan WHERE tenant_id = $1 AND key = $2
