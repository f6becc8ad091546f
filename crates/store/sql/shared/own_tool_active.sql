SELECT id, version, definition, status, author, approved_by, note, created_at, updated_at
FROM own_tool WHERE tenant_id = $1 AND status = 'active'
