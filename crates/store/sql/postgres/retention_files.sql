-- differs because SQLite keeps files in a folder, not in a table
SELECT kybern_remove_files($1, $2)
