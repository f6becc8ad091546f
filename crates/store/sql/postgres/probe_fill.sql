-- differs because SQLite's disk is this program's, which looks at it itself; here a megabyte finds out whether there is room
WITH filled AS MATERIALIZED (SELECT repeat('x', 1024) AS part FROM generate_series(1, 1024))
SELECT count(part) FROM filled
