SELECT id, agent, version, text, status, authors, approved_by, note, created_at, updated_at
FROM prompt WHERE tenant_id = $1 AND id = $2
