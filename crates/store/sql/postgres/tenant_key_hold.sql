-- differs because others write secrets at the same time: whoever does holds the tenant's key until it has
SELECT wrapped FROM tenant_key WHERE tenant_id = $1 FOR UPDATE
