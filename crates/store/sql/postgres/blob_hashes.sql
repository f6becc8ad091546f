-- differs because SQLite keeps files in a folder, not in a table
SELECT hash FROM blob WHERE tenant_id = $1 ORDER BY hash
