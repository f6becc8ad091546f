WITH filled AS MATERIALIZED (SELECT repeat('x', 1024) AS part FROM generate_series(1, 1024))
SELECT count(part) FROM filled
