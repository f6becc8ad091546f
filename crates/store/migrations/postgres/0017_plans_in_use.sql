-- Every message is held against the plans in use; older versions, of which there may be many, are not read for it.
CREATE INDEX plan_in_use ON plan (tenant_id, key) WHERE active = 1;
