-- differs because SQLite keeps files in a folder, not in a table
SELECT count(*) FROM blob WHERE tenant_id = $1 AND touched_at < $2
    AND NOT EXISTS (SELECT 1 FROM attachment WHERE attachment.tenant_id = $1 AND attachment.hash = blob.hash)
    AND NOT EXISTS (SELECT 1 FROM knowledge WHERE knowledge.tenant_id = $1 AND knowledge.hash = blob.hash)
    AND NOT EXISTS (
        SELECT 1 FROM record_lookup AS named
        WHERE named.tenant_id = $1 AND named.value = blob.hash AND named.name = 'file')
