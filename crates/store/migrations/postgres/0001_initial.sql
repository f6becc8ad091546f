-- The first schema. Ids are UUIDs, times are milliseconds since 1970, flags are 0 or 1, JSON is text.

CREATE TABLE tenant (
    id UUID PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    slug TEXT NOT NULL UNIQUE,
    created_at BIGINT NOT NULL
);

CREATE TABLE app_user (
    tenant_id UUID NOT NULL REFERENCES tenant (id),
    id UUID NOT NULL,
    name TEXT NOT NULL,
    email TEXT NOT NULL,
    roles TEXT NOT NULL,
    timezone TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, email)
);

CREATE TABLE api_key (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID NOT NULL,
    name TEXT NOT NULL,
    prefix TEXT NOT NULL,
    roles TEXT NOT NULL,
    scopes TEXT NOT NULL,
    expires_at BIGINT,
    revoked_at BIGINT,
    created_at BIGINT NOT NULL,
    key_hash TEXT NOT NULL UNIQUE,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, user_id) REFERENCES app_user (tenant_id, id)
);

CREATE TABLE outbound_webhook (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE task (
    id UUID NOT NULL,
    tenant_id UUID NOT NULL,
    channel TEXT NOT NULL,
    source TEXT NOT NULL,
    dedupe_key TEXT,
    body_hash TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'extracting', 'detecting_intent', 'planning', 'executing',
        'needs_review', 'delegated', 'completed', 'failed', 'cancelled')),
    input TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_by TEXT NOT NULL,
    user_id UUID,
    intent TEXT,
    confidence DOUBLE PRECISION,
    plan_key TEXT,
    plan_version BIGINT,
    plan_hash TEXT,
    max_steps BIGINT NOT NULL,
    confidence_threshold DOUBLE PRECISION NOT NULL,
    budget_nanos BIGINT,
    input_tokens BIGINT NOT NULL DEFAULT 0,
    output_tokens BIGINT NOT NULL DEFAULT 0,
    cost_nanos BIGINT NOT NULL DEFAULT 0,
    trace_id TEXT NOT NULL,
    parent_id UUID,
    parent_step TEXT,
    depth BIGINT NOT NULL,
    waits TEXT NOT NULL DEFAULT '[]',
    current_step TEXT,
    workflow_id TEXT,
    result TEXT,
    error TEXT,
    created_at BIGINT NOT NULL,
    started_at BIGINT,
    completed_at BIGINT,
    paused_at BIGINT,
    cancel_requested BIGINT NOT NULL DEFAULT 0 CHECK (cancel_requested IN (0, 1)),
    recoveries BIGINT NOT NULL DEFAULT 0,
    signals BIGINT NOT NULL DEFAULT 0,
    lease_owner TEXT,
    lease_epoch BIGINT NOT NULL DEFAULT 0,
    claimable_at BIGINT,
    forked_from UUID,
    PRIMARY KEY (tenant_id, id),
    -- An ended task is held by nobody and never due.
    CHECK (status NOT IN ('completed', 'failed', 'cancelled')
        OR (lease_owner IS NULL AND claimable_at IS NULL AND completed_at IS NOT NULL))
);
-- Only what can become due is in it, so history never slows a claim.
CREATE INDEX task_claimable ON task (claimable_at, id) WHERE claimable_at IS NOT NULL AND paused_at IS NULL;
CREATE INDEX task_paused ON task (paused_at) WHERE paused_at IS NOT NULL;
CREATE UNIQUE INDEX task_dedupe ON task (tenant_id, source, dedupe_key) WHERE dedupe_key IS NOT NULL;
-- Completed tasks are found by walking the newest ones; the others are few.
CREATE INDEX task_status ON task (tenant_id, status, id) WHERE status <> 'completed';
CREATE INDEX task_intent ON task (tenant_id, intent, id) WHERE intent IS NOT NULL;
CREATE INDEX task_parent ON task (tenant_id, parent_id, id) WHERE parent_id IS NOT NULL;

CREATE TABLE step_row (
    task_id UUID NOT NULL,
    seq BIGINT NOT NULL CHECK (seq > 0),
    tenant_id UUID NOT NULL,
    kind TEXT NOT NULL,
    status TEXT,
    step_id TEXT,
    tool_key TEXT,
    at BIGINT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (task_id, seq)
) PARTITION BY RANGE (task_id);
-- Months are created ahead by the program; whatever fits none of them lands here.
CREATE TABLE step_row_default PARTITION OF step_row DEFAULT;

CREATE TABLE attempt (
    tenant_id UUID NOT NULL,
    task_id UUID NOT NULL,
    step_id TEXT NOT NULL,
    generation BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    n BIGINT NOT NULL,
    tool TEXT NOT NULL,
    effect TEXT NOT NULL CHECK (effect IN ('read', 'local', 'keyed', 'queryable', 'unkeyed')),
    args_hash TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (task_id, step_id, generation, attempt),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
);

CREATE TABLE delegation (
    tenant_id UUID NOT NULL,
    task_id UUID NOT NULL,
    workflow_id TEXT NOT NULL,
    step_id TEXT NOT NULL,
    workflow TEXT NOT NULL,
    deadline BIGINT NOT NULL,
    -- The last journal row when it began: a later end of its step closes it.
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (task_id, workflow_id),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
);

CREATE TABLE signal (
    tenant_id UUID NOT NULL,
    task_id UUID NOT NULL,
    -- From 1; what came too late has numbers below 0 and is read by nobody.
    number BIGINT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('review', 'callback', 'child_ended', 'retry')),
    dedupe_key TEXT NOT NULL,
    body_hash TEXT,
    body TEXT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (task_id, number),
    UNIQUE (task_id, dedupe_key),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
);

CREATE TABLE frozen_plan (
    tenant_id UUID NOT NULL,
    hash TEXT NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (tenant_id, hash)
);

CREATE TABLE attachment (
    tenant_id UUID NOT NULL,
    task_id UUID NOT NULL,
    n BIGINT NOT NULL,
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    size BIGINT NOT NULL,
    hash TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('original', 'attached', 'inline')),
    PRIMARY KEY (task_id, n),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
);

CREATE TABLE artifact_link (
    tenant_id UUID NOT NULL,
    task_id UUID NOT NULL,
    n BIGINT NOT NULL,
    kind TEXT NOT NULL,
    record_id UUID NOT NULL,
    key TEXT NOT NULL,
    role TEXT NOT NULL CHECK (role IN ('created', 'updated', 'resolved', 'input')),
    metadata TEXT NOT NULL,
    step_id TEXT NOT NULL,
    tool_key TEXT,
    at BIGINT NOT NULL,
    PRIMARY KEY (task_id, n),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
);

CREATE TABLE record (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    props TEXT NOT NULL,
    version BIGINT NOT NULL CHECK (version > 0),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, kind, key)
);
CREATE INDEX record_kind ON record (tenant_id, kind, id);

CREATE TABLE record_lookup (
    tenant_id UUID NOT NULL,
    record_id UUID NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    is_unique BIGINT NOT NULL CHECK (is_unique IN (0, 1)),
    PRIMARY KEY (tenant_id, record_id, name, value),
    FOREIGN KEY (tenant_id, record_id) REFERENCES record (tenant_id, id)
);
CREATE UNIQUE INDEX record_lookup_unique ON record_lookup (tenant_id, kind, name, value) WHERE is_unique = 1;
CREATE INDEX record_lookup_value ON record_lookup (tenant_id, kind, name, value, record_id);

CREATE TABLE plan (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    key TEXT NOT NULL,
    version BIGINT NOT NULL CHECK (version > 0),
    active BIGINT NOT NULL CHECK (active IN (0, 1)),
    body TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, key, version)
);

CREATE TABLE outbox (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    task_id UUID,
    channel TEXT NOT NULL CHECK (channel IN ('email', 'webhook', 'workflow', 'completion')),
    target TEXT NOT NULL,
    key TEXT NOT NULL,
    body TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'sending', 'sent', 'kept', 'failed', 'uncertain')),
    attempts BIGINT NOT NULL DEFAULT 0,
    error TEXT,
    created_at BIGINT NOT NULL,
    sent_at BIGINT,
    PRIMARY KEY (tenant_id, id)
);

CREATE TABLE job (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    kind TEXT NOT NULL,
    payload TEXT NOT NULL,
    dedupe_key TEXT,
    status TEXT NOT NULL CHECK (status IN ('pending', 'done', 'dead')),
    attempts BIGINT NOT NULL DEFAULT 0,
    max_attempts BIGINT NOT NULL,
    last_error TEXT,
    lease_owner TEXT,
    lease_epoch BIGINT NOT NULL DEFAULT 0,
    claimable_at BIGINT,
    created_at BIGINT NOT NULL,
    finished_at BIGINT,
    PRIMARY KEY (tenant_id, id),
    CHECK (status = 'pending' OR (claimable_at IS NULL AND lease_owner IS NULL))
);
CREATE INDEX job_claimable ON job (claimable_at, id) WHERE claimable_at IS NOT NULL;
CREATE INDEX job_dead ON job (status) WHERE status = 'dead';
CREATE UNIQUE INDEX job_dedupe ON job (tenant_id, kind, dedupe_key) WHERE dedupe_key IS NOT NULL;

CREATE TABLE idempotency (
    tenant_id UUID NOT NULL,
    principal TEXT NOT NULL,
    route TEXT NOT NULL,
    key TEXT NOT NULL,
    body_hash TEXT NOT NULL,
    status BIGINT,
    body TEXT,
    taken_at BIGINT NOT NULL,
    expires_at BIGINT,
    PRIMARY KEY (tenant_id, principal, route, key)
);
CREATE INDEX idempotency_expires ON idempotency (tenant_id, expires_at) WHERE expires_at IS NOT NULL;

CREATE TABLE audit_event (
    tenant_id UUID NOT NULL,
    seq BIGINT NOT NULL,
    at BIGINT NOT NULL,
    body TEXT NOT NULL,
    prev_hash TEXT NOT NULL,
    hash TEXT NOT NULL,
    PRIMARY KEY (tenant_id, seq)
);
CREATE FUNCTION kybern_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit events are never changed or removed';
END $$;
CREATE TRIGGER audit_event_stays BEFORE UPDATE OR DELETE ON audit_event
    FOR EACH ROW EXECUTE FUNCTION kybern_refuse_audit_change();
CREATE TRIGGER audit_event_is_kept BEFORE TRUNCATE ON audit_event
    FOR EACH STATEMENT EXECUTE FUNCTION kybern_refuse_audit_change();

CREATE TABLE audit_head (
    tenant_id UUID PRIMARY KEY,
    seq BIGINT NOT NULL,
    hash TEXT NOT NULL
);

CREATE TABLE usage_row (
    tenant_id UUID NOT NULL,
    task_id UUID NOT NULL,
    seq BIGINT NOT NULL,
    step_id TEXT,
    tool_key TEXT,
    generation BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_nanos BIGINT NOT NULL,
    at BIGINT NOT NULL,
    PRIMARY KEY (task_id, seq),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
);
CREATE INDEX usage_row_at ON usage_row (tenant_id, at);

CREATE TABLE blob (
    tenant_id UUID NOT NULL,
    hash TEXT NOT NULL,
    size BIGINT NOT NULL,
    bytes BYTEA NOT NULL,
    PRIMARY KEY (tenant_id, hash)
);

-- The database's own clock decides about leases; the moment that a process believes in is only handed in.
CREATE FUNCTION kybern_now(believed BIGINT) RETURNS BIGINT LANGUAGE sql STABLE
    AS 'SELECT (extract(epoch FROM statement_timestamp()) * 1000)::bigint';

-- kybern_app sees one tenant at a time; kybern_worker sees all, and of each row only what claiming needs.
DO $$
DECLARE
    role_name TEXT;
BEGIN
    FOREACH role_name IN ARRAY ARRAY['kybern_app', 'kybern_worker'] LOOP
        IF NOT EXISTS (SELECT 1 FROM pg_roles WHERE rolname = role_name) THEN
            BEGIN
                EXECUTE format('CREATE ROLE %I NOLOGIN NOSUPERUSER NOBYPASSRLS', role_name);
            EXCEPTION WHEN duplicate_object OR unique_violation THEN
                NULL; -- another database of this server was faster
            END;
        END IF;
        IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
            BEGIN
                EXECUTE format('GRANT %I TO CURRENT_USER', role_name);
            EXCEPTION WHEN insufficient_privilege THEN
                NULL; -- somebody with more rights has granted it before, or the first SET ROLE says so
            END;
        END IF;
    END LOOP;
END $$;

DO $$
DECLARE
    name TEXT;
    own TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'tenant', 'app_user', 'api_key', 'outbound_webhook', 'task', 'step_row', 'attempt', 'delegation',
        'signal', 'frozen_plan', 'attachment', 'artifact_link', 'record', 'record_lookup', 'plan', 'outbox',
        'job', 'idempotency', 'audit_event', 'audit_head', 'usage_row', 'blob'
    ] LOOP
        own := CASE name WHEN 'tenant' THEN 'id' ELSE 'tenant_id' END;
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I TO kybern_app
            USING (%I = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (%I = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name, own, own);
        EXECUTE format('GRANT SELECT, INSERT ON %I TO kybern_app', name);
        IF name NOT IN ('audit_event', 'step_row', 'frozen_plan', 'blob', 'usage_row', 'attempt', 'signal') THEN
            EXECUTE format('GRANT UPDATE, DELETE ON %I TO kybern_app', name);
        END IF;
    END LOOP;
    FOREACH name IN ARRAY ARRAY['tenant', 'app_user', 'api_key', 'task', 'plan', 'job'] LOOP
        EXECUTE format('CREATE POLICY every_tenant ON %I FOR SELECT TO kybern_worker USING (true)', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['task', 'job'] LOOP
        EXECUTE format('CREATE POLICY every_lease ON %I FOR UPDATE TO kybern_worker USING (true) WITH CHECK (true)',
            name);
    END LOOP;
END $$;
REVOKE UPDATE, DELETE, TRUNCATE ON audit_event FROM kybern_app, kybern_worker, PUBLIC;

GRANT SELECT ON tenant, plan TO kybern_worker;
GRANT SELECT (tenant_id, id, roles) ON app_user TO kybern_worker;
GRANT SELECT (tenant_id, id, user_id, roles, scopes, expires_at, revoked_at, key_hash) ON api_key TO kybern_worker;
GRANT SELECT (tenant_id, id, status, paused_at, cancel_requested, recoveries, signals, started_at, lease_owner,
    lease_epoch, claimable_at) ON task TO kybern_worker;
GRANT UPDATE (recoveries, started_at, lease_owner, lease_epoch, claimable_at) ON task TO kybern_worker;
GRANT SELECT (tenant_id, id, kind, payload, status, attempts, max_attempts, lease_owner, lease_epoch, claimable_at)
    ON job TO kybern_worker;
GRANT UPDATE (status, attempts, last_error, lease_owner, lease_epoch, claimable_at, finished_at)
    ON job TO kybern_worker;
