-- From the seed follow the ids of what is made under a key, so that a repeat after a crash finds it. `tries` counts who has
-- taken the key: once it is more than one, a failure does not give it free. Keys that were taken by earlier versions
-- have no seed; those that were never answered end now.
ALTER TABLE idempotency ADD COLUMN seed UUID;
ALTER TABLE idempotency ADD COLUMN tries BIGINT NOT NULL DEFAULT 1;
UPDATE idempotency SET expires_at = taken_at WHERE expires_at IS NULL;
