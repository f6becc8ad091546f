-- differs because PostgreSQL claims in one statement and skips what others hold
SELECT tenant_id, id, lease_owner, claimable_at, $1 FROM task
WHERE tenant_id = $3 AND claimable_at IS NOT NULL AND paused_at IS NULL AND claimable_at <= $1
    AND instr($4, hex(id)) = 0
ORDER BY claimable_at, id LIMIT $2
