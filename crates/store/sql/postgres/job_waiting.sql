-- differs because one look at the index gives tenant and time
WITH RECURSIVE open AS (
    (SELECT tenant_id, claimable_at FROM job WHERE claimable_at IS NOT NULL ORDER BY tenant_id, claimable_at, id LIMIT 1)
    UNION ALL
    SELECT next.tenant_id, next.claimable_at FROM open CROSS JOIN LATERAL (
        SELECT job.tenant_id, job.claimable_at FROM job
        WHERE job.claimable_at IS NOT NULL AND job.tenant_id > open.tenant_id
        ORDER BY job.tenant_id, job.claimable_at, job.id LIMIT 1
    ) AS next
)
SELECT tenant_id, claimable_at FROM open WHERE claimable_at <= kybern_now($1)
