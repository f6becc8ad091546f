-- What may be spent, what has been, what is promised, and how often something may be called.
CREATE TABLE budget (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    subject TEXT NOT NULL,
    period TEXT NOT NULL CHECK (period = 'day' OR period = 'month' OR period = 'whole'),
    limit_cost BIGINT CHECK (limit_cost >= 0),
    limit_tokens BIGINT CHECK (limit_tokens >= 0),
    limit_calls BIGINT CHECK (limit_calls >= 0),
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, subject, period),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- What each payer has used on each day; a tree of tasks is counted under day 0.
CREATE TABLE account (
    tenant_id UUID NOT NULL,
    payer TEXT NOT NULL,
    day BIGINT NOT NULL,
    used_cost BIGINT NOT NULL CHECK (used_cost >= 0),
    used_tokens BIGINT NOT NULL CHECK (used_tokens >= 0),
    used_calls BIGINT NOT NULL CHECK (used_calls >= 0),
    PRIMARY KEY (tenant_id, payer, day),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- Open reservations only: a settled one is gone. So few rows need no further index, and each would be one more page to
-- write for every call.
CREATE TABLE reservation (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    user_id UUID,
    tree_id UUID,
    cost BIGINT NOT NULL CHECK (cost >= 0),
    tokens BIGINT NOT NULL CHECK (tokens >= 0),
    calls BIGINT NOT NULL CHECK (calls >= 0),
    day BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

CREATE TABLE usage_day (
    tenant_id UUID NOT NULL,
    day BIGINT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    provider TEXT NOT NULL,
    user_id TEXT NOT NULL,
    calls BIGINT NOT NULL,
    failed BIGINT NOT NULL,
    estimated BIGINT NOT NULL,
    input_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    output_tokens BIGINT NOT NULL,
    cost_nanos BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, day, kind, name, provider, user_id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- A rate's calls within its window. Whoever judges takes the key's row first.
CREATE TABLE rate_key (
    tenant_id UUID NOT NULL,
    key TEXT NOT NULL,
    touched_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, key),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

CREATE TABLE rate_hit (
    tenant_id UUID NOT NULL,
    key TEXT NOT NULL,
    at BIGINT NOT NULL,
    hits BIGINT NOT NULL CHECK (hits > 0),
    PRIMARY KEY (tenant_id, key, at),
    FOREIGN KEY (tenant_id, key) REFERENCES rate_key (tenant_id, key)
);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['budget', 'account', 'reservation', 'usage_day', 'rate_key', 'rate_hit'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I TO kybern_app
            USING (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE ON %I TO kybern_app', name);
    END LOOP;
    FOREACH name IN ARRAY ARRAY['budget', 'reservation', 'rate_key', 'rate_hit'] LOOP
        EXECUTE format('GRANT DELETE ON %I TO kybern_app', name);
    END LOOP;
END $$;

-- A worker finds the reservations whose owner is gone; it settles them as their tenant.
CREATE POLICY every_tenant ON reservation FOR SELECT TO kybern_worker USING (true);
GRANT SELECT (tenant_id, id, owner, expires_at) ON reservation TO kybern_worker;
