-- differs because here the list of names is JSON that SQLite reads
WITH RECURSIVE kinds (kind) AS (
    SELECT min(kind) FROM record WHERE tenant_id = $1
    UNION ALL
    SELECT (SELECT min(record.kind) FROM record WHERE tenant_id = $1 AND record.kind > kinds.kind)
    FROM kinds WHERE kinds.kind IS NOT NULL
), named (id) AS (
    SELECT record.id FROM kinds JOIN record ON record.tenant_id = $1 AND record.kind = kinds.kind
    WHERE record.key IN (SELECT value FROM json_each($2))
    UNION
    SELECT record_id FROM record_lookup WHERE tenant_id = $1 AND is_unique = 1 AND value IN (SELECT value FROM json_each($2))
), entity (id) AS (
    SELECT id FROM named WHERE EXISTS (
        SELECT 1 FROM memory
        WHERE tenant_id = $1 AND subject_type = 'entity' AND subject_id = named.id AND status = 'active')
    ORDER BY id LIMIT $3
)
SELECT memory.id, memory.subject_type, memory.subject_id, memory.content, memory.category, memory.importance,
    memory.trust, memory.status, memory.provenance, memory.expires_at, memory.created_at, memory.updated_at,
    memory.vector_model, memory.vector, record.key
FROM entity
    JOIN record ON record.tenant_id = $1 AND record.id = entity.id
    JOIN memory ON memory.tenant_id = $1 AND memory.subject_type = 'entity' AND memory.subject_id = entity.id
WHERE memory.status = 'active'
ORDER BY memory.id
