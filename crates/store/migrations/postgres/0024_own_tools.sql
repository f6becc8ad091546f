-- What tenants have made themselves as tools, version by version.
CREATE TABLE own_tool (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    tool_key TEXT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    -- What it says of itself and does, as JSON.
    definition TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    status TEXT NOT NULL CHECK (status = 'draft' OR status = 'review' OR status = 'rejected' OR status = 'approved'
        OR status = 'active' OR status = 'disabled'),
    author UUID NOT NULL,
    approved_by UUID,
    note TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, tool_key, version),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- One version is what a call of the tool makes.
CREATE UNIQUE INDEX own_tool_active ON own_tool (tenant_id, tool_key) WHERE status = 'active';

ALTER TABLE own_tool ENABLE ROW LEVEL SECURITY;
ALTER TABLE own_tool FORCE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON own_tool TO kybern_app
    USING (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON own_tool TO kybern_app;
