WITH RECURSIVE tree (id) AS (
    SELECT id FROM task WHERE tenant_id = $1 AND id = $2
    UNION ALL
    -- CROSS JOIN keeps SQLite to this order; else it goes through all of the tenant's child tasks.
    SELECT task.id FROM tree CROSS JOIN task WHERE task.tenant_id = $1 AND task.parent_id = tree.id
)
SELECT CAST(coalesce(sum(input_tokens), 0) AS BIGINT), CAST(coalesce(sum(output_tokens), 0) AS BIGINT),
    CAST(coalesce(sum(cost_nanos), 0) AS BIGINT)
FROM task WHERE tenant_id = $1 AND id IN (SELECT id FROM tree)
