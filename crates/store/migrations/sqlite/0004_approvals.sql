-- What users may let tools do, what tenants say about tools, and what persons are asked.
CREATE TABLE user_permission (
    tenant_id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    policy TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, user_id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_setting (
    tenant_id BLOB NOT NULL,
    tool TEXT NOT NULL,
    body TEXT NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, tool),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT, WITHOUT ROWID;

CREATE TABLE approval (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    step_id TEXT NOT NULL,
    -- The journal row that began the wait.
    wait_seq INTEGER NOT NULL,
    kind TEXT NOT NULL,
    tool TEXT,
    user_id BLOB,
    reason TEXT NOT NULL,
    input TEXT NOT NULL,
    input_hash TEXT,
    status TEXT NOT NULL CHECK (status = 'pending' OR status = 'approved' OR status = 'denied' OR status = 'expired'
        OR status = 'withdrawn'),
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    decided_at INTEGER,
    decided_by TEXT,
    note TEXT,
    edited INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, task_id, wait_seq),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT;

-- The inbox: what is open, the oldest first.
CREATE INDEX approval_open ON approval (tenant_id, id) WHERE status = 'pending';
