-- differs because the role that works in PostgreSQL may remove no audit event, and calls a function of the owner
DELETE FROM audit_event WHERE tenant_id = $1 AND seq IN (
    SELECT seq FROM audit_event WHERE tenant_id = $1
        AND seq <= (SELECT removed_seq FROM audit_head WHERE tenant_id = $1)
    ORDER BY seq LIMIT $2)
RETURNING seq
