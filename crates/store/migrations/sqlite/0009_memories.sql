-- What is remembered of users and entities, and the documents that agents may quote. Vectors are base64 of their
-- components, four bytes each.
CREATE TABLE memory (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    subject_type TEXT NOT NULL CHECK (subject_type = 'user' OR subject_type = 'entity'),
    subject_id BLOB NOT NULL,
    content TEXT NOT NULL,
    category TEXT NOT NULL,
    importance INTEGER NOT NULL CHECK (importance BETWEEN 1 AND 10),
    trust TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status = 'pending' OR status = 'active' OR status = 'rejected'),
    provenance TEXT NOT NULL,
    expires_at INTEGER,
    vector_model TEXT,
    vector TEXT,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT;

CREATE INDEX memory_subject ON memory (tenant_id, subject_type, subject_id, id);

CREATE TABLE knowledge (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL,
    title TEXT NOT NULL,
    filename TEXT NOT NULL,
    content_type TEXT NOT NULL,
    hash TEXT NOT NULL,
    size INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status = 'indexing' OR status = 'ready' OR status = 'failed'),
    published INTEGER NOT NULL,
    error TEXT,
    pieces INTEGER NOT NULL,
    model TEXT,
    version INTEGER NOT NULL CHECK (version >= 1),
    created_by BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT;

CREATE TABLE knowledge_piece (
    tenant_id BLOB NOT NULL,
    knowledge_id BLOB NOT NULL,
    n INTEGER NOT NULL,
    page INTEGER NOT NULL,
    text TEXT NOT NULL,
    vector_model TEXT,
    vector TEXT,
    PRIMARY KEY (tenant_id, knowledge_id, n),
    FOREIGN KEY (tenant_id, knowledge_id) REFERENCES knowledge (tenant_id, id)
) STRICT;
