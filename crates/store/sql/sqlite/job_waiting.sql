-- differs because SQLite has no LATERAL and is told its index
WITH RECURSIVE open (tenant_id, since) AS (
    SELECT tenant_id, claimable_at FROM job WHERE rowid = (
        SELECT rowid FROM job INDEXED BY job_due WHERE claimable_at IS NOT NULL
        ORDER BY tenant_id, claimable_at LIMIT 1
    )
    UNION ALL
    SELECT next.tenant_id, next.claimable_at FROM open JOIN job AS next ON next.rowid = (
        SELECT rowid FROM job INDEXED BY job_due WHERE claimable_at IS NOT NULL
            AND tenant_id > open.tenant_id
        ORDER BY tenant_id, claimable_at LIMIT 1
    )
)
SELECT tenant_id, since FROM open WHERE since <= $1
