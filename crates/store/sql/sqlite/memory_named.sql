-- differs because here the list of names is JSON that SQLite reads, and CROSS JOIN keeps it to this order; else it goes
-- through all of the tenant's records and memories
WITH RECURSIVE kinds (kind) AS (
    SELECT min(kind) FROM record WHERE tenant_id = $1
    UNION ALL
    SELECT (SELECT min(record.kind) FROM record WHERE tenant_id = $1 AND record.kind > kinds.kind)
    FROM kinds WHERE kinds.kind IS NOT NULL
), named (id) AS (
    SELECT record.id FROM kinds CROSS JOIN json_each($2) AS name CROSS JOIN record
    WHERE record.tenant_id = $1 AND record.kind = kinds.kind AND record.key = name.value
    UNION
    SELECT record_id FROM json_each($2) AS name CROSS JOIN record_lookup
    WHERE record_lookup.tenant_id = $1 AND record_lookup.is_unique = 1 AND record_lookup.value = name.value
), entity (id) AS (
    SELECT id FROM named WHERE EXISTS (
        SELECT 1 FROM memory
        WHERE tenant_id = $1 AND subject_type = 'entity' AND subject_id = named.id AND status = 'active')
    ORDER BY id LIMIT $3
)
SELECT memory.id, memory.subject_type, memory.subject_id, memory.content, memory.category, memory.importance,
    memory.trust, memory.status, memory.provenance, memory.expires_at, memory.created_at, memory.updated_at,
    memory.vector_model, memory.vector, record.key
FROM entity CROSS JOIN record CROSS JOIN memory
WHERE record.tenant_id = $1 AND record.id = entity.id
    AND memory.tenant_id = $1 AND memory.subject_type = 'entity' AND memory.subject_id = entity.id
    AND memory.status = 'active'
ORDER BY memory.id
