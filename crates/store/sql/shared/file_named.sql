SELECT 1 WHERE EXISTS (SELECT 1 FROM attachment WHERE attachment.tenant_id = $1 AND attachment.hash = $2)
    OR EXISTS (SELECT 1 FROM knowledge WHERE knowledge.tenant_id = $1 AND knowledge.hash = $2)
    OR EXISTS (SELECT 1 FROM record_lookup AS named WHERE named.tenant_id = $1 AND named.value = $2 AND named.name = 'file')
