DELETE FROM message WHERE tenant_id = $1 AND chat_id = $2 AND id = $3
