-- differs because rows that others hold are skipped, and the database's clock decides
WITH spent AS (
    SELECT tenant_id, id FROM job
    WHERE claimable_at IS NOT NULL AND claimable_at <= kybern_now($1) AND lease_owner IS NOT NULL
        AND attempts >= max_attempts
    FOR UPDATE SKIP LOCKED
)
UPDATE job SET status = 'dead', lease_owner = NULL, claimable_at = NULL, finished_at = kybern_now($1),
    last_error = 'the worker died in its last try'
FROM spent WHERE job.tenant_id = spent.tenant_id AND job.id = spent.id
