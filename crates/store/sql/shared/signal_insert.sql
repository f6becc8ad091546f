INSERT INTO signal (tenant_id, task_id, number, kind, dedupe_key, body_hash, body, at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
