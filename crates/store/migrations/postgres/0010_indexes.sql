-- Indexes follow what is read: each one is a page more to write with every row.

-- A message names records by their keys and identifiers, and says nothing of their kinds.
CREATE INDEX record_identifier ON record_lookup (tenant_id, value) WHERE is_unique = 1;

-- Usage is read by its task only.
DROP INDEX usage_row_at;

-- Open turns are found by their chats.
DROP INDEX turn_of_chat;
ALTER TABLE turn DROP CONSTRAINT turn_pkey;
ALTER TABLE turn ADD PRIMARY KEY (tenant_id, chat_id, message_id);
