-- differs because PostgreSQL skips rows that others hold
UPDATE job SET status = 'dead', lease_owner = NULL, claimable_at = NULL, finished_at = $1,
    last_error = coalesce(last_error, 'the worker died in its last try')
WHERE claimable_at IS NOT NULL AND claimable_at <= $1 AND lease_owner IS NOT NULL AND attempts >= max_attempts
