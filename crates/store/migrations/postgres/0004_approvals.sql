-- What users may let tools do, what tenants say about tools, and what persons are asked.
CREATE TABLE user_permission (
    tenant_id UUID NOT NULL,
    user_id UUID NOT NULL,
    policy TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id)
);

CREATE TABLE tool_setting (
    tenant_id UUID NOT NULL,
    tool TEXT NOT NULL,
    body TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, tool),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

CREATE TABLE approval (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    task_id UUID NOT NULL,
    step_id TEXT NOT NULL,
    -- The journal row that began the wait.
    wait_seq BIGINT NOT NULL,
    kind TEXT NOT NULL,
    tool TEXT,
    user_id UUID,
    reason TEXT NOT NULL,
    input TEXT NOT NULL,
    input_hash TEXT,
    status TEXT NOT NULL CHECK (status = 'pending' OR status = 'approved' OR status = 'denied' OR status = 'expired'
        OR status = 'withdrawn'),
    created_at BIGINT NOT NULL,
    expires_at BIGINT,
    decided_at BIGINT,
    decided_by TEXT,
    note TEXT,
    edited BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, task_id, wait_seq),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
);

-- The inbox: what is open, the oldest first.
CREATE INDEX approval_open ON approval (tenant_id, id) WHERE status = 'pending';

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['user_permission', 'tool_setting', 'approval'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I TO kybern_app
            USING (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO kybern_app', name);
    END LOOP;
END $$;
GRANT DELETE ON user_permission TO kybern_app;
