-- The data key under which a tenant's secrets are sealed, itself wrapped under the master key. Base64.
CREATE TABLE tenant_key (
    tenant_id UUID PRIMARY KEY,
    wrapped TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

-- Secrets, sealed under their tenant's data key. Hosts are a JSON list, sealed values base64.
CREATE TABLE secret (
    tenant_id UUID NOT NULL,
    name TEXT NOT NULL,
    version BIGINT NOT NULL CHECK (version >= 1),
    hosts TEXT NOT NULL,
    description TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, name),
    FOREIGN KEY (tenant_id) REFERENCES tenant_key (tenant_id)
);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['tenant_key', 'secret'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I TO kybern_app
            USING (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO kybern_app', name);
    END LOOP;
END $$;
