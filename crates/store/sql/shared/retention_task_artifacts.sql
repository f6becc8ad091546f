DELETE FROM artifact_link WHERE tenant_id = $1 AND task_id = $2
