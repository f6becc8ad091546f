-- Who made whose account is asked across tenants.
CREATE INDEX app_user_by_id ON app_user (id);
CREATE INDEX api_key_of_user ON api_key (user_id);
GRANT SELECT (made_by_user_id) ON app_user TO kybern_worker;
GRANT SELECT (made_by_user_id) ON api_key TO kybern_worker;
