INSERT INTO lesson (tenant_id, id, kind, body, fingerprint, bytes, status, source, since_version, until_version,
    decided_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
