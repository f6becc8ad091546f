-- What tenants have made themselves as tools, version by version.
CREATE TABLE own_tool (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    tool_key TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    -- What it says of itself and does, as JSON.
    definition TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    status TEXT NOT NULL CHECK (status = 'draft' OR status = 'review' OR status = 'rejected' OR status = 'approved'
        OR status = 'active' OR status = 'disabled'),
    author BLOB NOT NULL,
    approved_by BLOB,
    note TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, tool_key, version),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT;

-- One version is what a call of the tool makes.
CREATE UNIQUE INDEX own_tool_active ON own_tool (tenant_id, tool_key) WHERE status = 'active';
