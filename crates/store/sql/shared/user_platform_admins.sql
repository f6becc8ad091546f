SELECT tenant_id, id, roles FROM app_user WHERE roles LIKE '%platform_admin%' ORDER BY id
