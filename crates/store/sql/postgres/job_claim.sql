-- differs because rows that others hold are skipped, and the database's clock decides
WITH due AS (
    SELECT tenant_id, id FROM job
    WHERE tenant_id = $3 AND claimable_at IS NOT NULL AND claimable_at <= kybern_now($1)
        AND id <> ALL ($6::uuid[])
    ORDER BY claimable_at, id LIMIT $2
    FOR UPDATE SKIP LOCKED
)
UPDATE job SET lease_owner = $4, lease_epoch = job.lease_epoch + 1, attempts = job.attempts + 1,
    claimable_at = kybern_now($1) + $5
FROM due WHERE job.tenant_id = due.tenant_id AND job.id = due.id
RETURNING job.tenant_id, job.id, job.kind, job.payload, job.attempts, job.max_attempts, job.lease_epoch
