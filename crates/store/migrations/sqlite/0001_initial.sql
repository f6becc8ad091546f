-- The first schema. Ids are 16 bytes, times are milliseconds since 1970, flags are 0 or 1, JSON is text.

CREATE TABLE tenant (
    id BLOB PRIMARY KEY CHECK (length(id) = 16),
    name TEXT NOT NULL UNIQUE,
    slug TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL
) STRICT;

CREATE TABLE app_user (
    tenant_id BLOB NOT NULL REFERENCES tenant (id),
    id BLOB NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    roles TEXT NOT NULL,
    timezone TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, email)
) STRICT;

CREATE TABLE api_key (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    user_id BLOB NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    roles TEXT NOT NULL,
    scopes TEXT NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    created_at INTEGER NOT NULL,
    key_hash TEXT NOT NULL UNIQUE,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id)
) STRICT;

CREATE TABLE outbound_webhook (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id)
) STRICT;

CREATE TABLE task (
    id BLOB NOT NULL CHECK (length(id) = 16),
    tenant_id BLOB NOT NULL CHECK (length(tenant_id) = 16),
    channel TEXT NOT NULL,
    source TEXT NOT NULL,
    dedupe_key TEXT,
    body_hash TEXT,
    -- Compared one by one: for a list SQLite builds a table in memory, at each write.
    status TEXT NOT NULL CHECK (status = 'executing' OR status = 'completed' OR status = 'pending'
        OR status = 'extracting' OR status = 'detecting_intent' OR status = 'planning' OR status = 'needs_review'
        OR status = 'delegated' OR status = 'failed' OR status = 'cancelled'),
    input TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_by TEXT NOT NULL,
    user_id BLOB,
    intent TEXT,
    confidence REAL,
    plan_key TEXT,
    plan_version INTEGER,
    plan_hash TEXT,
    max_steps INTEGER NOT NULL,
    confidence_threshold REAL NOT NULL,
    budget_nanos INTEGER,
    input_tokens INTEGER NOT NULL DEFAULT 0,
    output_tokens INTEGER NOT NULL DEFAULT 0,
    cost_nanos INTEGER NOT NULL DEFAULT 0,
    trace_id TEXT NOT NULL,
    parent_id BLOB,
    parent_step TEXT,
    depth INTEGER NOT NULL,
    waits TEXT NOT NULL DEFAULT '[]',
    current_step TEXT,
    workflow_id TEXT,
    result TEXT,
    error TEXT,
    created_at INTEGER NOT NULL,
    started_at INTEGER,
    completed_at INTEGER,
    paused_at INTEGER,
    cancel_requested INTEGER NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    recoveries INTEGER NOT NULL DEFAULT 0,
    signals INTEGER NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_epoch INTEGER NOT NULL DEFAULT 0,
    claimable_at INTEGER,
    forked_from BLOB,
    PRIMARY KEY (tenant_id, id),
    -- An ended task is held by nobody and never due.
    CHECK ((status <> 'completed' AND status <> 'failed' AND status <> 'cancelled')
        OR (lease_owner IS NULL AND claimable_at IS NULL AND completed_at IS NOT NULL))
) STRICT;
-- Only what can become due is in it, so history never slows a claim.
CREATE INDEX task_claimable ON task (claimable_at, id) WHERE claimable_at IS NOT NULL AND paused_at IS NULL;
CREATE INDEX task_paused ON task (paused_at) WHERE paused_at IS NOT NULL;
CREATE UNIQUE INDEX task_dedupe ON task (tenant_id, source, dedupe_key) WHERE dedupe_key IS NOT NULL;
-- Completed tasks are found by walking the newest ones; the others are few.
CREATE INDEX task_status ON task (tenant_id, status, id) WHERE status <> 'completed';
CREATE INDEX task_intent ON task (tenant_id, intent, id) WHERE intent IS NOT NULL;
CREATE INDEX task_parent ON task (tenant_id, parent_id, id) WHERE parent_id IS NOT NULL;

CREATE TABLE step_row (
    task_id BLOB NOT NULL,
    seq INTEGER NOT NULL CHECK (seq > 0),
    tenant_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    status TEXT,
    step_id TEXT,
    tool_key TEXT,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (task_id, seq)
) STRICT;

CREATE TABLE attempt (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    step_id TEXT NOT NULL,
    generation INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    n INTEGER NOT NULL,
    tool TEXT NOT NULL,
    effect TEXT NOT NULL CHECK (effect IN ('read', 'local', 'keyed', 'queryable', 'unkeyed')),
    args_hash TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (task_id, step_id, generation, attempt),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT;

CREATE TABLE delegation (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    workflow_id TEXT NOT NULL,
    step_id TEXT NOT NULL,
    workflow TEXT NOT NULL,
    deadline INTEGER NOT NULL,
    -- The last journal row when it began: a later end of its step closes it.
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (task_id, workflow_id),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT;

CREATE TABLE signal (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    -- From 1; what came too late has numbers below 0 and is read by nobody.
    number INTEGER NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('review', 'callback', 'child_ended', 'retry')),
    dedupe_key TEXT NOT NULL,
    body_hash TEXT,
    body TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (task_id, number),
    UNIQUE (task_id, dedupe_key),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT;

CREATE TABLE frozen_plan (
    tenant_id BLOB NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, hash)
) STRICT;

CREATE TABLE attachment (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    n INTEGER NOT NULL,
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size INTEGER NOT NULL,
    hash TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('original', 'attached', 'inline')),
    PRIMARY KEY (task_id, n),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT;

CREATE TABLE artifact_link (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    n INTEGER NOT NULL,
    kind TEXT NOT NULL,
    record_id BLOB NOT NULL,
    key TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('created', 'updated', 'resolved', 'input')),
    metadata TEXT NOT NULL,
    step_id TEXT NOT NULL,
    tool_key TEXT,
    at INTEGER NOT NULL,
    PRIMARY KEY (task_id, n),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT;

CREATE TABLE record (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    props TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, kind, key)
) STRICT;
CREATE INDEX record_kind ON record (tenant_id, kind, id);

CREATE TABLE record_lookup (
    tenant_id BLOB NOT NULL,
    record_id BLOB NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    is_unique INTEGER NOT NULL CHECK (is_unique IN (0, 1)),
    PRIMARY KEY (tenant_id, record_id, name, value),
    FOREIGN KEY (tenant_id, record_id) REFERENCES record (tenant_id, id)
) STRICT;
CREATE UNIQUE INDEX record_lookup_unique ON record_lookup (tenant_id, kind, name, value) WHERE is_unique = 1;
CREATE INDEX record_lookup_value ON record_lookup (tenant_id, kind, name, value, record_id);

CREATE TABLE plan (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    key TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version > 0),
    active INTEGER NOT NULL CHECK (active IN (0, 1)),
    body TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, key, version)
) STRICT;

CREATE TABLE outbox (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    task_id BLOB,
    channel TEXT NOT NULL CHECK (channel IN ('email', 'webhook', 'workflow', 'completion')),
    target TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'sending', 'sent', 'kept', 'failed', 'uncertain')),
    attempts INTEGER NOT NULL DEFAULT 0,
    error TEXT,
    created_at INTEGER NOT NULL,
    sent_at INTEGER,
    PRIMARY KEY (tenant_id, id)
) STRICT;

CREATE TABLE job (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    dedupe_key TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'dead')),
    attempts INTEGER NOT NULL DEFAULT 0,
    max_attempts INTEGER NOT NULL,
    last_error TEXT,
    lease_owner TEXT,
    lease_epoch INTEGER NOT NULL DEFAULT 0,
    claimable_at INTEGER,
    created_at INTEGER NOT NULL,
    finished_at INTEGER,
    PRIMARY KEY (tenant_id, id),
    CHECK (status = 'pending' OR (claimable_at IS NULL AND lease_owner IS NULL))
) STRICT;
CREATE INDEX job_claimable ON job (claimable_at, id) WHERE claimable_at IS NOT NULL;
CREATE INDEX job_dead ON job (status) WHERE status = 'dead';
CREATE UNIQUE INDEX job_dedupe ON job (tenant_id, kind, dedupe_key) WHERE dedupe_key IS NOT NULL;

CREATE TABLE idempotency (
    tenant_id BLOB NOT NULL,
    principal TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    status INTEGER,
    body TEXT,
    taken_at INTEGER NOT NULL,
    expires_at INTEGER,
    PRIMARY KEY (tenant_id, principal, route, key)
) STRICT;
CREATE INDEX idempotency_expires ON idempotency (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE audit_event (
    tenant_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    at INTEGER NOT NULL,
    body TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (tenant_id, seq)
) STRICT;
CREATE TRIGGER audit_event_keeps BEFORE UPDATE ON audit_event
BEGIN SELECT RAISE(ABORT, 'audit events are never changed'); END;
CREATE TRIGGER audit_event_stays BEFORE DELETE ON audit_event
BEGIN SELECT RAISE(ABORT, 'audit events are never removed'); END;

CREATE TABLE audit_head (
    tenant_id BLOB PRIMARY KEY,
    seq INTEGER NOT NULL,
    hash TEXT NOT NULL
) STRICT;

CREATE TABLE usage_row (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    step_id TEXT,
    tool_key TEXT,
    generation INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_nanos INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (task_id, seq),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT;
CREATE INDEX usage_row_at ON usage_row (tenant_id, at);
