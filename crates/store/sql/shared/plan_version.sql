SELECT id FROM plan WHERE tenant_id = $1 AND key = $2 AND version = $3
