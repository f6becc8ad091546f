INSERT INTO memory (tenant_id, id, subject_type, subject_id, content, category, importance, trust, status, provenance,
    expires_at, vector_model, vector, created_at, updated_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
