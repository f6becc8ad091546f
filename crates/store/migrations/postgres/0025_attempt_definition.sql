-- The definition that a call was begun with, of a tool that its tenant can change: under another one it is not made again
-- without a person's word.
ALTER TABLE attempt ADD COLUMN tool_hash TEXT;
