SELECT id, task_id, step_id, wait_seq, kind, tool, user_id, reason, input, input_hash, status, created_at, expires_at,
    decided_at, decided_by, note, edited
FROM approval
WHERE tenant_id = $1 AND id > $2 AND status = $4
    AND (kind IN ('confirmation', 'ambiguous') AND $6 <> 0 OR NOT EXISTS (SELECT 1 FROM task
        WHERE task.tenant_id = approval.tenant_id AND task.id = approval.task_id
            AND task.channel = 'chat' AND task.user_id IS NOT NULL AND task.user_id <> $5) OR $5 IS NULL)
ORDER BY id LIMIT $3
