-- differs because the role that works in PostgreSQL may remove no audit event, and calls a function of the owner
SELECT seq FROM kybern_remove_audit($1, $2) AS removed (seq)
