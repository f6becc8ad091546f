SELECT id, version, definition, status, author, approved_by, note, created_at, updated_at
FROM own_tool WHERE tenant_id = $1 AND id < $2 AND ($3 = '' OR tool_key = $3) AND ($4 = '' OR status = $4)
ORDER BY id DESC LIMIT $5
