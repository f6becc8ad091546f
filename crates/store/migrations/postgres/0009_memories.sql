-- What is remembered of users and entities, and the documents that agents may quote. Vectors are base64 of their
-- components, four bytes each.
CREATE TABLE memory (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    subject_type TEXT NOT NULL CHECK (subject_type = 'user' OR subject_type = 'entity'),
    subject_id UUID NOT NULL,
    content TEXT NOT NULL,
    category TEXT NOT NULL,
    importance BIGINT NOT NULL CHECK (importance BETWEEN 1 AND 10),
    trust TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status = 'pending' OR status = 'active' OR status = 'rejected'),
    provenance TEXT NOT NULL,
    expires_at BIGINT,
    vector_model TEXT,
    vector TEXT,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

CREATE INDEX memory_subject ON memory (tenant_id, subject_type, subject_id, id);

CREATE TABLE knowledge (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    title TEXT NOT NULL,
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    hash TEXT NOT NULL,
    size BIGINT NOT NULL,
    status TEXT NOT NULL CHECK (status = 'indexing' OR status = 'ready' OR status = 'failed'),
    published BIGINT NOT NULL,
    error TEXT,
    pieces BIGINT NOT NULL,
    model TEXT,
    version BIGINT NOT NULL CHECK (version >= 1),
    created_by UUID,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);

CREATE TABLE knowledge_piece (
    tenant_id UUID NOT NULL,
    knowledge_id UUID NOT NULL,
    n BIGINT NOT NULL,
    page BIGINT NOT NULL,
    text TEXT NOT NULL,
    vector_model TEXT,
    vector TEXT,
    PRIMARY KEY (tenant_id, knowledge_id, n),
    FOREIGN KEY (tenant_id, knowledge_id) REFERENCES knowledge (tenant_id, id)
);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['memory', 'knowledge', 'knowledge_piece'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I TO kybern_app
            USING (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO kybern_app', name);
    END LOOP;
END $$;
