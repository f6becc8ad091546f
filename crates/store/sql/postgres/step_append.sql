-- differs because the task's row is locked, so that no claim comes in between
WITH held AS (
    SELECT signals * 4 + cancel_requested * 2 + CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END AS told
    FROM task WHERE tenant_id = $3 AND id = $1 AND lease_epoch = $10 AND lease_owner IS NOT NULL
    FOR NO KEY UPDATE
), put AS (
    INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
    SELECT $1::uuid, $2::bigint, $3::uuid, $4::text, $5::text, $6::text, $7::text, $8::bigint, $9::text FROM held
)
SELECT told FROM held
