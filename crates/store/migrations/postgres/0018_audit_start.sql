-- What a chain begins after, once its beginning was exported and removed: only what lies before it can be removed.
ALTER TABLE audit_head ADD COLUMN removed_seq BIGINT NOT NULL DEFAULT 0;
ALTER TABLE audit_head ADD COLUMN removed_hash TEXT NOT NULL
    DEFAULT '0000000000000000000000000000000000000000000000000000000000000000';

-- The functions below run as the owner of the tables, who is one tenant's as well, and sees nothing without one.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['audit_event', 'audit_head'] LOOP
        EXECUTE format('CREATE POLICY one_tenant_of_owner ON %I TO CURRENT_USER
            USING (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)
            WITH CHECK (tenant_id = nullif(current_setting(''kybern.tenant_id'', true), '''')::uuid)', name);
    END LOOP;
END $$;

CREATE OR REPLACE FUNCTION kybern_refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF EXISTS (SELECT 1 FROM audit_head WHERE tenant_id = OLD.tenant_id AND removed_seq >= OLD.seq) THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'audit events are never changed or removed before they were exported';
END $$;

-- Removes some of the events from before the beginning of a chain, and answers their numbers. kybern_app, which may
-- remove no audit event, has this one way.
CREATE FUNCTION kybern_remove_audit(owner_id UUID, most BIGINT) RETURNS SETOF BIGINT LANGUAGE plpgsql SECURITY DEFINER
AS $$
DECLARE
    mine UUID := nullif(current_setting('kybern.tenant_id', true), '')::uuid;
BEGIN
    RETURN QUERY DELETE FROM audit_event WHERE tenant_id = mine AND owner_id = mine AND seq IN (
        SELECT old.seq FROM audit_event AS old WHERE old.tenant_id = mine
            AND old.seq <= (SELECT removed_seq FROM audit_head WHERE tenant_id = mine)
        ORDER BY old.seq LIMIT most)
    RETURNING seq;
END $$;

-- They see these tables and no others of the same names.
DO $$
DECLARE
    name TEXT;
BEGIN
    FOREACH name IN ARRAY ARRAY['kybern_remove_audit(UUID, BIGINT)', 'kybern_refuse_audit_change()'] LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = %I, pg_temp', name, current_schema());
    END LOOP;
    REVOKE EXECUTE ON FUNCTION kybern_remove_audit(UUID, BIGINT) FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION kybern_remove_audit(UUID, BIGINT) TO kybern_app;
END $$;
