SELECT CAST(1 AS BIGINT) FROM reservation WHERE tenant_id = $1 AND id = $2
