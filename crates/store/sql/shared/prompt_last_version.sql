SELECT coalesce(max(version), 0) FROM prompt WHERE tenant_id = $1 AND agent = $2
