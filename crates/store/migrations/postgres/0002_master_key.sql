-- What tells the master key under which this database was made from another: a keyed hash of a constant. Another key
-- would make keys that nobody has, and audit events that nobody can verify. Only the owner reads it, at the start.
CREATE TABLE master_key (
    one BIGINT PRIMARY KEY CHECK (one = 1),
    proof TEXT NOT NULL
);
