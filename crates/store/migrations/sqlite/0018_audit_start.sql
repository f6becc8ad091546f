-- What a chain begins after, once its beginning was exported and removed: only what lies before it can be removed.
ALTER TABLE audit_head ADD COLUMN removed_seq INTEGER NOT NULL DEFAULT 0;
ALTER TABLE audit_head ADD COLUMN removed_hash TEXT NOT NULL
    DEFAULT '0000000000000000000000000000000000000000000000000000000000000000';
DROP TRIGGER audit_event_stays;
CREATE TRIGGER audit_event_stays BEFORE DELETE ON audit_event
WHEN NOT EXISTS (SELECT 1 FROM audit_head WHERE tenant_id = OLD.tenant_id AND removed_seq >= OLD.seq)
BEGIN SELECT RAISE(ABORT, 'audit events are never removed before they were exported'); END;
