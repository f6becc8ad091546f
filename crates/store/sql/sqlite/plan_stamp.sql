-- differs because the functions that join rows into a text do
SELECT coalesce(group_concat(hex(id) || active ORDER BY id), '') FROM plan WHERE tenant_id = $1
