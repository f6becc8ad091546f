-- One row that is written again and again, to find out whether the database takes writes.
CREATE TABLE probe (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    at INTEGER NOT NULL
) STRICT;
INSERT INTO probe (one, at) VALUES (1, 0);
