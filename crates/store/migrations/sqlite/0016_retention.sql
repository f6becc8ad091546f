-- Why a task is kept however old it becomes, and the ways from a row to what it keeps.
CREATE TABLE task_hold (
    tenant_id BLOB NOT NULL,
    task_id BLOB NOT NULL,
    reason TEXT NOT NULL,
    held_by TEXT NOT NULL,
    held_at INTEGER NOT NULL,
    PRIMARY KEY (tenant_id, task_id),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX message_of_task ON message (tenant_id, task_id) WHERE task_id IS NOT NULL;
CREATE INDEX outbox_of_task ON outbox (tenant_id, task_id) WHERE task_id IS NOT NULL;
CREATE INDEX attachment_of_file ON attachment (tenant_id, hash);
