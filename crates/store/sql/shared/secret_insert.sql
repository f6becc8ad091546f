INSERT INTO secret (tenant_id, name, version, hosts, description, sealed, created_by, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
