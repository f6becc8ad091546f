UPDATE approval SET status = $3, decided_at = $4, decided_by = 'executor'
WHERE tenant_id = $1 AND task_id = $2 AND status = 'pending'
