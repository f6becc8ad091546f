WITH RECURSIVE tree (id) AS (
    SELECT id FROM task WHERE tenant_id = $1 AND id = $2
    UNION ALL
    SELECT task.id FROM task JOIN tree ON task.parent_id = tree.id WHERE task.tenant_id = $1
)
SELECT CAST(coalesce(sum(input_tokens), 0) AS BIGINT), CAST(coalesce(sum(output_tokens), 0) AS BIGINT),
    CAST(coalesce(sum(cost_nanos), 0) AS BIGINT)
FROM task WHERE tenant_id = $1 AND id IN (SELECT id FROM tree)
