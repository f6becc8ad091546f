-- differs because SQLite, which has no hop per statement, appends rows one by one
WITH given AS (
    SELECT * FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::bigint[],
        $9::text[], $10::bigint[]) AS given (task_id, seq, kind, status, step_id, tool_key, at, body, epoch)
), held AS (
    SELECT id, lease_epoch,
        signals * 4 + cancel_requested * 2 + CASE WHEN paused_at IS NULL THEN 0 ELSE 1 END AS told
    FROM task WHERE tenant_id = $1 AND id = ANY ($2) AND lease_owner IS NOT NULL
    FOR NO KEY UPDATE
), put AS (
    INSERT INTO step_row (task_id, seq, tenant_id, kind, status, step_id, tool_key, at, body)
    SELECT given.task_id, seq, $1, kind, status, step_id, tool_key, at, body
    FROM given JOIN held ON held.id = given.task_id AND held.lease_epoch = given.epoch
)
SELECT id, lease_epoch, told FROM held
