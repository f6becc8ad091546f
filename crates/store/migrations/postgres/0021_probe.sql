-- One row that is written again and again, to find out whether the database takes writes. Nobody reads it.
CREATE TABLE probe (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    at BIGINT NOT NULL
);
INSERT INTO probe (one, at) VALUES (1, 0);
GRANT UPDATE (at) ON probe TO kybern_worker;
