-- Who made a user or a key. Perhaps somebody of another tenant: a platform admin who acts in this one. NULL where nobody
-- is known: the first of a server, and those of earlier versions.
ALTER TABLE app_user ADD COLUMN made_by_user_id UUID;
ALTER TABLE api_key ADD COLUMN made_by_user_id UUID;
