-- Conversations. Messages stand in the order of their ids.
CREATE TABLE chat (
    tenant_id UUID NOT NULL,
    id UUID NOT NULL,
    user_id UUID,
    agent TEXT,
    title TEXT NOT NULL,
    forked_from UUID,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id) REFERENCES tenant (id)
);
CREATE INDEX chat_of_user ON chat (tenant_id, user_id, id);

CREATE TABLE message (
    tenant_id UUID NOT NULL,
    chat_id UUID NOT NULL,
    id UUID NOT NULL,
    role TEXT NOT NULL CHECK (role = 'user' OR role = 'assistant'),
    content TEXT NOT NULL,
    task_id UUID,
    -- Calls, usage and what a model is shown of the turn, as JSON.
    body TEXT NOT NULL,
    redacted_at BIGINT,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, chat_id, id),
    FOREIGN KEY (tenant_id, chat_id) REFERENCES chat (tenant_id, id)
);

-- The turns that have not ended: one of a chat is taken, the others wait.
CREATE TABLE turn (
    tenant_id UUID NOT NULL,
    task_id UUID NOT NULL,
    chat_id UUID NOT NULL,
    message_id UUID NOT NULL,
    waits BIGINT NOT NULL CHECK (waits IN (0, 1)),
    PRIMARY KEY (tenant_id, task_id),
    FOREIGN KEY (tenant_id, chat_id) REFERENCES chat (tenant_id, id)
);
CREATE INDEX turn_of_chat ON turn (tenant_id, chat_id, message_id);

DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['chat', 'message', 'turn'] LOOP
        EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', name);
        EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', name);
        EXECUTE format('CREATE POLICY one_tenant ON %I TO kybern_app
            USING (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO kybern_app', name);
    END LOOP;
END $$;
