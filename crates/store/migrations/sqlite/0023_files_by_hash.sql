-- Begins with the hash: an index that begins with the tenant is taken for what asks for a task's attachments, and all of
-- the tenant's are gone through.
DROP INDEX attachment_of_file;
CREATE INDEX attachment_of_file ON attachment (hash, tenant_id);
CREATE INDEX knowledge_of_file ON knowledge (hash, tenant_id);
