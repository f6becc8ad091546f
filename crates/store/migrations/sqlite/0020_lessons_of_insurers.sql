-- Lessons of two more kinds: who answers for a company, and how a name is written otherwise. An older program reads
-- neither, and is refused here.
CREATE TABLE lesson_new (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL CHECK (kind = 'intent_example' OR kind = 'label' OR kind = 'spelling' OR kind = 'trusted_sender' OR kind = 'speaker'),
    -- What it teaches, as JSON.
    body TEXT NOT NULL,
    -- What tells it from the tenant's other lessons.
    fingerprint TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    status TEXT NOT NULL CHECK (status = 'suggested' OR status = 'accepted' OR status = 'withdrawn'),
    -- Where it comes from, as JSON.
    source TEXT NOT NULL,
    -- The versions of the tenant's lessons between which it is used.
    since_version INTEGER CHECK (since_version >= 1),
    until_version INTEGER CHECK (until_version > since_version),
    decided_by TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT;
INSERT INTO lesson_new SELECT * FROM lesson;
DROP TABLE lesson;
ALTER TABLE lesson_new RENAME TO lesson;
CREATE UNIQUE INDEX lesson_live ON lesson (tenant_id, fingerprint) WHERE status = 'suggested' OR status = 'accepted';
