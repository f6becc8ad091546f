SELECT tenant_id, id, key, version, active, body, created_at FROM plan
WHERE tenant_id = $1 AND key = $2 AND version < $3 ORDER BY version DESC LIMIT $4
