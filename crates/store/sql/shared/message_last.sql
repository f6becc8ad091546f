SELECT id FROM message WHERE tenant_id = $1 AND chat_id = $2 ORDER BY id DESC LIMIT 1
