-- What became of records, version by version, and who made it so.
CREATE TABLE record_version (
    tenant_id BLOB NOT NULL,
    record_id BLOB NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    -- The props that changed, as JSON; null also for one that is no longer there.
    changed TEXT NOT NULL,
    -- The step of a task that wrote it, which may be removed since; or the user who did by hand, and why.
    task_id BLOB,
    step_id TEXT,
    user_id BLOB,
    reason TEXT,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, record_id, version),
    FOREIGN KEY (tenant_id, record_id) REFERENCES record (tenant_id, id)
) STRICT;

-- Which tasks touched a record.
CREATE INDEX artifact_link_record ON artifact_link (record_id, task_id DESC, n);
