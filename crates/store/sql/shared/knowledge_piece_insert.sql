INSERT INTO knowledge_piece (tenant_id, knowledge_id, n, page, text, vector_model, vector)
VALUES ($1, $2, $3, $4, $5, $6, $7)
