SELECT knowledge.id, knowledge.title, knowledge_piece.n, knowledge_piece.page, knowledge_piece.text,
    knowledge_piece.vector_model, knowledge_piece.vector
FROM knowledge_piece
JOIN knowledge ON knowledge.tenant_id = knowledge_piece.tenant_id AND knowledge.id = knowledge_piece.knowledge_id
WHERE knowledge_piece.tenant_id = $1 AND knowledge.published = 1
ORDER BY knowledge.id, knowledge_piece.n
