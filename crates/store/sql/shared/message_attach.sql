UPDATE message SET body = $4
WHERE tenant_id = $1 AND chat_id = $2 AND id = $3 AND redacted_at IS NULL
