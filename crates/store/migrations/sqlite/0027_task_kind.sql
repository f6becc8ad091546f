-- What a task is, which was guessed from its channel and from its plan's name.
ALTER TABLE task ADD COLUMN kind TEXT NOT NULL DEFAULT 'plan';
UPDATE task SET kind = 'call' WHERE plan_key LIKE 'tool:%';
UPDATE task SET kind = 'turn' WHERE channel = 'chat' AND forked_from IS NULL;
