SELECT wrapped FROM tenant_key WHERE tenant_id = $1
