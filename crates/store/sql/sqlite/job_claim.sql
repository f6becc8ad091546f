-- differs because PostgreSQL skips rows that others hold
UPDATE job SET lease_owner = $4, lease_epoch = lease_epoch + 1, attempts = attempts + 1, claimable_at = $1 + $5
WHERE rowid IN (
    SELECT rowid FROM job WHERE tenant_id = $3 AND claimable_at IS NOT NULL AND claimable_at <= $1
        AND instr($6, hex(id)) = 0
    ORDER BY claimable_at, id LIMIT $2
)
RETURNING tenant_id, id, kind, payload, attempts, max_attempts, lease_epoch
