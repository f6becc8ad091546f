DELETE FROM memory WHERE tenant_id = $1 AND id = $2
