SELECT id FROM prompt WHERE tenant_id = $1 AND agent = $2 AND status = 'active'
