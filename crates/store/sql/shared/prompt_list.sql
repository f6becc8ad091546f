SELECT id, agent, version, text, status, authors, approved_by, note, created_at, updated_at
FROM prompt WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR agent = $3) AND ($4 = '' OR status = $4)
ORDER BY id DESC LIMIT $5
