-- What whoever made a task could do then, as bits: read 1, operate 2, review 4, administer 8, platform 16. NULL in tasks
-- of earlier versions, which have an operator's.
ALTER TABLE task ADD COLUMN rights BIGINT;

-- The key that a key was made with. It may belong to another tenant: a platform admin's who acts in this one.
ALTER TABLE api_key ADD COLUMN made_by_key_id UUID;
CREATE INDEX api_key_by_id ON api_key (id);
CREATE INDEX api_key_made_by ON api_key (made_by_key_id) WHERE made_by_key_id IS NOT NULL;
GRANT SELECT (made_by_key_id) ON api_key TO kybern_worker;
