-- differs because SQLite keeps files in a folder, not in a table
SELECT bytes FROM blob WHERE tenant_id = $1 AND hash = $2
