-- Who made whose account is asked across tenants.
CREATE INDEX app_user_by_id ON app_user (id);
CREATE INDEX api_key_of_user ON api_key (user_id);
