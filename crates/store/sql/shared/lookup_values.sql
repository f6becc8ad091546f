SELECT wanted.record_id, wanted.value
FROM record_lookup AS known JOIN record_lookup AS wanted
    ON wanted.tenant_id = known.tenant_id AND wanted.record_id = known.record_id AND wanted.name = $5
WHERE known.tenant_id = $1 AND known.kind = $2 AND known.name = $3 AND known.value = $4
ORDER BY known.record_id, wanted.value LIMIT 1000
