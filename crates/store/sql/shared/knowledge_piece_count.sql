SELECT count(*) FROM knowledge_piece WHERE tenant_id = $1
