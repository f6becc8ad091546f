-- What a tenant says about agents, its governed prompts, and what its users want to be answered like.
CREATE TABLE agent (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    key TEXT NOT NULL,
    -- What was written down; NULL takes the bundled agent of that key away.
    body TEXT,
    version INTEGER NOT NULL CHECK (version >= 1),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, key),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT;

CREATE TABLE prompt (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    -- An agent's key; '*' for all agents that have none of their own.
    agent TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    text TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status = 'draft' OR status = 'review' OR status = 'approved' OR status = 'active'
        OR status = 'retired'),
    -- A JSON list of users.
    authors TEXT NOT NULL,
    approved_by BLOB,
    note TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, agent, version),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT;

-- One of them is what an agent is told.
CREATE UNIQUE INDEX prompt_active ON prompt (tenant_id, agent) WHERE status = 'active';

CREATE TABLE user_preference (
    tenant_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    body TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id)
) STRICT;
