SELECT app_user.roles, user_permission.policy
FROM app_user
LEFT JOIN user_permission ON user_permission.tenant_id = app_user.tenant_id AND user_permission.user_id = app_user.id
WHERE app_user.tenant_id = $1 AND app_user.id = $2
