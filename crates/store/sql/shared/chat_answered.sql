UPDATE chat SET updated_at = CASE
    WHEN EXISTS (SELECT 1 FROM turn WHERE turn.tenant_id = $1 AND turn.chat_id = $2 AND turn.task_id = $4) THEN $3
    ELSE updated_at
END
WHERE tenant_id = $1 AND id = $2
