-- The data key under which a tenant's secrets are sealed, itself wrapped under the master key. Base64.
CREATE TABLE tenant_key (
    tenant_id BLOB PRIMARY KEY,
    wrapped TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT, WITHOUT ROWID;

-- Secrets, sealed under their tenant's data key. Hosts are a JSON list, sealed values base64.
CREATE TABLE secret (
    tenant_id BLOB NOT NULL,
    name TEXT NOT NULL,
    version INTEGER NOT NULL CHECK (version >= 1),
    hosts TEXT NOT NULL,
    description TEXT NOT NULL,
    sealed TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, name),
    FOREIGN KEY (tenant_id) REFERENCES tenant_key (tenant_id)
) STRICT;
