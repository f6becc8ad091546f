SELECT id FROM task WHERE tenant_id = $1 AND parent_id = $2 AND parent_id IS NOT NULL ORDER BY id
