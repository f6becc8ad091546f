-- differs because on PostgreSQL whoever writes a secret holds the tenant's key until it has; here there is one writer
SELECT wrapped FROM tenant_key WHERE tenant_id = $1
