DELETE FROM lesson WHERE tenant_id = $1 AND id = (
    SELECT old.id FROM lesson AS old
    WHERE old.tenant_id = $1 AND old.status = 'withdrawn' AND (old.until_version IS NULL OR old.until_version < $2)
        -- A task that came in while it was used goes on with it, and so does one that failed and is tried again.
        AND (old.since_version IS NULL OR NOT EXISTS (
            SELECT 1 FROM task WHERE task.tenant_id = $1 AND task.created_at <= old.updated_at
                AND task.status <> 'completed' AND task.status <> 'cancelled'))
    ORDER BY old.updated_at, old.id LIMIT 1)
