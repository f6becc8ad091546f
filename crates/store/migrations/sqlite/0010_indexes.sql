-- Indexes follow what is read: each one is a page more to write with every row.

-- A message names records by their keys and identifiers, and says nothing of their kinds.
CREATE INDEX record_identifier ON record_lookup (tenant_id, value) WHERE is_unique = 1;

-- Usage is read by its task only.
CREATE TABLE usage_row_by_task (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    seq INTEGER NOT NULL,
    step_id TEXT,
    tool_key TEXT,
    generation INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost_nanos INTEGER NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (task_id, seq),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO usage_row_by_task SELECT * FROM usage_row;
DROP TABLE usage_row;
ALTER TABLE usage_row_by_task RENAME TO usage_row;

-- Open turns are found by their chats.
CREATE TABLE turn_by_chat (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    chat_id BLOB NOT NULL,
    message_id BLOB NOT NULL,
    waits INTEGER NOT NULL CHECK (waits IN (0, 1)),
    PRIMARY KEY (tenant_id, chat_id, message_id),
    FOREIGN KEY (tenant_id, chat_id) REFERENCES chat (tenant_id, id)
) STRICT, WITHOUT ROWID;
INSERT INTO turn_by_chat SELECT * FROM turn;
DROP TABLE turn;
ALTER TABLE turn_by_chat RENAME TO turn;
