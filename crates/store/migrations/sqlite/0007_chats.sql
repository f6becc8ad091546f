-- Conversations. Messages stand in the order of their ids.
CREATE TABLE chat (
    tenant_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    user_id BLOB,
    agent TEXT,
    title TEXT NOT NULL,
    forked_from BLOB,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX chat_of_user ON chat (tenant_id, user_id, id);

CREATE TABLE message (
    tenant_id BLOB NOT NULL,
    chat_id BLOB NOT NULL,
    id BLOB NOT NULL CHECK (length(id) = 16),
    role TEXT NOT NULL CHECK (role = 'user' OR role = 'assistant'),
    content TEXT NOT NULL,
    task_id BLOB,
    -- Calls, usage and what a model is shown of the turn, as JSON.
    body TEXT NOT NULL,
    redacted_at INTEGER,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, chat_id, id),
    FOREIGN KEY (tenant_id, chat_id) REFERENCES chat (tenant_id, id)
) STRICT, WITHOUT ROWID;

-- The turns that have not ended: one of a chat is taken, the others wait.
CREATE TABLE turn (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    chat_id BLOB NOT NULL,
    message_id BLOB NOT NULL,
    waits INTEGER NOT NULL CHECK (waits IN (0, 1)),
    PRIMARY KEY (tenant_id, task_id),
    FOREIGN KEY (tenant_id, chat_id) REFERENCES chat (tenant_id, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX turn_of_chat ON turn (tenant_id, chat_id, message_id);
