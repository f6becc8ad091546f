-- The providers that a tenant allows, as a JSON list of names; NULL allows all.
CREATE TABLE model_policy (
    tenant_id BLOB NOT NULL,
    providers TEXT,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT, WITHOUT ROWID;
