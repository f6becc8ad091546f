-- differs because others reserve for the same task at the same time, and there is no row of its budget to hold
SELECT CAST(1 AS BIGINT) FROM pg_advisory_xact_lock(hashtextextended($1, 0))
