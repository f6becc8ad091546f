SELECT tenant_id FROM task WHERE id = $1
