SELECT version FROM plan WHERE tenant_id = $1 AND key = $2 AND active = 1
