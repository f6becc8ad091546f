-- differs because only here others write too: on SQLite this process knows of every change
SELECT coalesce(md5(string_agg(id::text || active::text, ',' ORDER BY id)), '') FROM plan WHERE tenant_id = $1
