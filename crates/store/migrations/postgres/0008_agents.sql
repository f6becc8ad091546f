-- What a tenant says about agents, its governed prompts, and what its users want to be answered like.
CREATE TABLE agent (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    key TEXT NOT NULL,
    -- What was written down; NULL takes the bundled agent of that key away.
    body TEXT,
    version BIGINT NOT NULL CHECK (version >= 1),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, key),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

CREATE TABLE prompt (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    -- An agent's key; '*' for all agents that have none of their own.
    agent TEXT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    text TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status = 'draft' OR status = 'review' OR status = 'approved' OR status = 'active'
        OR status = 'retired'),
    -- A JSON list of users.
    authors TEXT NOT NULL,
    approved_by UUID,
    note TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, agent, version),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- One of them is what an agent is told.
CREATE UNIQUE INDEX prompt_active ON prompt (tenant_id, agent) WHERE status = 'active';

CREATE TABLE user_preference (
    tenant_id UUID NOT NULL,
    user_id UUID NOT NULL,
    body TEXT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id)
);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['agent', 'prompt', 'user_preference'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I TO kybern_app
            USING (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO kybern_app', name);
    END LOOP;
END $$;
GRANT DELETE ON agent, user_preference TO kybern_app;
