-- differs because the functions that join rows into a text do
SELECT coalesce(md5(string_agg(id::text || active::text, ',' ORDER BY id)), '') FROM plan WHERE tenant_id = $1
