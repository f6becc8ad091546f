-- Why a task is kept however old it becomes, and the ways from a row to what it keeps.
CREATE TABLE task_hold (
    tenant_id UUID NOT NULL,
    task_id UUID NOT NULL,
    reason TEXT NOT NULL,
    held_by TEXT NOT NULL,
    held_at BIGINT NOT NULL,
    PRIMARY KEY (tenant_id, task_id),
    FOREIGN KEY (tenant_id, task_id) REFERENCES task (tenant_id, id)
);
ALTER TABLE task_hold ENABLE ROW LEVEL SECURITY;
ALTER TABLE task_hold FORCE ROW LEVEL SECURITY;
CREATE POLICY one_tenant ON task_hold TO kybern_app
    USING (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid);
GRANT SELECT, INSERT, DELETE ON task_hold TO kybern_app;

CREATE INDEX message_of_task ON message (tenant_id, task_id) WHERE task_id IS NOT NULL;
CREATE INDEX outbox_of_task ON outbox (tenant_id, task_id) WHERE task_id IS NOT NULL;
CREATE INDEX attachment_of_file ON attachment (tenant_id, hash);

-- When somebody last stored a file: what is about to name it comes soon after. Files of earlier versions, and those
-- that a process of an earlier version stores, have the database's own moment.
ALTER TABLE blob ADD COLUMN touched_at BIGINT NOT NULL DEFAULT kybern_now(0);
GRANT UPDATE (touched_at) ON blob TO kybern_app;

-- The functions below run as the owner of the tables, who is one tenant's as well, and sees nothing without one.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY[
        'task', 'step_row', 'attempt', 'delegation', 'signal', 'attachment', 'artifact_link', 'usage_row', 'approval',
        'account', 'outbox', 'message', 'task_hold', 'blob', 'knowledge'
    ] LOOP
        EXECUTE format('CREATE POLICY one_tenant_of_owner ON %I TO CURRENT_USER
            USING (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name);
    END LOOP;
END $$;

-- Removes a whole tree of tasks with everything that belongs to it alone, and answers how many tasks it had. A tree that
-- is not over, that is on hold, or that a conversation or an open message names stays: the answer is 0. kybern_app,
-- which may remove no row of a journal, has this one way.
CREATE FUNCTION kybern_remove_tree(root UUID) RETURNS BIGINT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    mine UUID := nullif(current_setting('kybern.tenant_id', true), '')::uuid;
    ids UUID[];
BEGIN
    WITH RECURSIVE tree (id) AS (
        SELECT task.id FROM task WHERE task.tenant_id = mine AND task.id = root AND task.parent_id IS NULL
        UNION ALL
        SELECT task.id FROM tree JOIN task ON task.tenant_id = mine AND task.parent_id = tree.id
    )
    SELECT array_agg(tree.id) INTO ids FROM tree;
    IF ids IS NULL THEN
        RETURN 0;
    END IF;
    PERFORM 1 FROM task WHERE tenant_id = mine AND id = ANY (ids) ORDER BY id FOR UPDATE;
    IF EXISTS (SELECT 1 FROM task WHERE tenant_id = mine AND id = ANY (ids)
            AND status NOT IN ('completed', 'failed', 'cancelled'))
        OR EXISTS (SELECT 1 FROM task_hold WHERE tenant_id = mine AND task_id = ANY (ids))
        OR EXISTS (SELECT 1 FROM message WHERE tenant_id = mine AND task_id = ANY (ids))
        OR EXISTS (SELECT 1 FROM outbox WHERE tenant_id = mine AND task_id = ANY (ids)
            AND status IN ('pending', 'sending'))
    THEN
        RETURN 0;
    END IF;
    DELETE FROM step_row WHERE tenant_id = mine AND task_id = ANY (ids);
    DELETE FROM attempt WHERE tenant_id = mine AND task_id = ANY (ids);
    DELETE FROM delegation WHERE tenant_id = mine AND task_id = ANY (ids);
    DELETE FROM signal WHERE tenant_id = mine AND task_id = ANY (ids);
    DELETE FROM attachment WHERE tenant_id = mine AND task_id = ANY (ids);
    DELETE FROM artifact_link WHERE tenant_id = mine AND task_id = ANY (ids);
    DELETE FROM usage_row WHERE tenant_id = mine AND task_id = ANY (ids);
    DELETE FROM approval WHERE tenant_id = mine AND task_id = ANY (ids);
    DELETE FROM account WHERE tenant_id = mine AND day = 0 AND payer = 'tree:' || root;
    -- What a private conversation has sent is shown to its user only, and its task says whose it is.
    DELETE FROM outbox WHERE tenant_id = mine AND task_id IN (
        SELECT id FROM task WHERE tenant_id = mine AND id = ANY (ids) AND channel = 'chat');
    DELETE FROM task WHERE tenant_id = mine AND id = ANY (ids);
    RETURN array_length(ids, 1);
END $$;

-- Removes some of the files that nothing names and that nobody has stored since a moment, and answers how many.
CREATE FUNCTION kybern_remove_files(before BIGINT, most BIGINT) RETURNS BIGINT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    mine UUID := nullif(current_setting('kybern.tenant_id', true), '')::uuid;
    removed BIGINT;
BEGIN
    DELETE FROM blob WHERE tenant_id = mine AND touched_at < before AND hash IN (
        SELECT hash FROM blob AS old WHERE old.tenant_id = mine AND old.touched_at < before
            AND NOT EXISTS (SELECT 1 FROM attachment WHERE tenant_id = mine AND hash = old.hash)
            AND NOT EXISTS (SELECT 1 FROM knowledge WHERE tenant_id = mine AND hash = old.hash)
        LIMIT most);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;

-- They see these tables and no others of the same names.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['kybern_remove_tree(UUID)', 'kybern_remove_files(BIGINT, BIGINT)'] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', name, current_schema());
        EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', name);
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO kybern_app', name);
    END LOOP;
END $$;
