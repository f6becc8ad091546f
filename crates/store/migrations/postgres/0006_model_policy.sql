-- The providers that a tenant allows, as a JSON list of names; NULL allows all.
CREATE TABLE model_policy (
    tenant_id UUID NOT NULL,
    providers TEXT,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

ALTER TABLE model_policy ENABLE ROW LEVEL SECURITY;
ALTER TABLE model_policy FORCE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON model_policy TO kybern_app
    USING (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid);
GRANT SELECT, INSERT, UPDATE ON model_policy TO kybern_app;
