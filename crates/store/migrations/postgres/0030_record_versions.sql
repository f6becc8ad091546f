-- What became of records, version by version, and who made it so.
CREATE TABLE record_version (
    tenant_id UUID NOT NULL,
    record_id UUID NOT NULL,
    version BIGINT NOT NULL CHECK (version > 0),
    -- The props that changed, as JSON; null also for one that is no longer there.
    changed TEXT NOT NULL,
    -- The step of a task that wrote it, which may be removed since; or the user who did by hand, and why.
    task_id UUID,
    step_id TEXT,
    user_id UUID,
    reason TEXT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, record_id, version),
    FOREIGN KEY (tenant_id, record_id) REFERENCES record (tenant_id, id)
);

-- Which tasks touched a record.
CREATE INDEX artifact_link_record ON artifact_link (record_id, task_id DESC, n);

ALTER TABLE record_version ENABLE ROW LEVEL SECURITY;
ALTER TABLE record_version FORCE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON record_version TO kybern_app
    USING (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid);
-- A history is written, and not written over.
GRANT SELECT, INSERT ON record_version TO kybern_app;
