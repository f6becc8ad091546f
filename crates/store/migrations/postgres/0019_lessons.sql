-- What tenants have learned from answers.
CREATE TABLE lesson (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    kind TEXT NOT NULL CHECK (kind = 'intent_example' OR kind = 'label' OR kind = 'trusted_sender'),
    -- What it teaches, as JSON.
    body TEXT NOT NULL,
    -- What tells it from the tenant's other lessons.
    fingerprint TEXT NOT NULL,
    bytes BIGINT NOT NULL CHECK (bytes >= 0),
    status TEXT NOT NULL CHECK (status = 'suggested' OR status = 'accepted' OR status = 'withdrawn'),
    -- Where it comes from, as JSON.
    source TEXT NOT NULL,
    -- The versions of the tenant's lessons between which it is used.
    since_version BIGINT CHECK (since_version >= 1),
    until_version BIGINT CHECK (until_version > since_version),
    decided_by TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- The same is not learned twice.
CREATE UNIQUE INDEX lesson_live ON lesson (tenant_id, fingerprint) WHERE status = 'suggested' OR status = 'accepted';

ALTER TABLE lesson ENABLE ROW LEVEL SECURITY;
ALTER TABLE lesson FORCE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON lesson TO kybern_app
    USING (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE, DELETE ON lesson TO kybern_app;
