DELETE FROM record_lookup WHERE tenant_id = $1 AND record_id = $2 AND name = $3
