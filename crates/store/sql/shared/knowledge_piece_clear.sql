DELETE FROM knowledge_piece WHERE tenant_id = $1 AND knowledge_id = $2
