-- differs because SQLite keeps files in a folder; it never runs this
SELECT $1
