UPDATE approval SET status = $4, decided_at = $5, decided_by = $6, note = $7, edited = $8
WHERE tenant_id = $1 AND task_id = $2 AND wait_seq = $3 AND status = 'pending'
