-- What is due is found tenant by tenant, so that a tenant with much of it stands in nobody's way.

DROP INDEX task_claimable;
CREATE INDEX task_due ON task (tenant_id, claimable_at, id) WHERE claimable_at IS NOT NULL AND paused_at IS NULL;
DROP INDEX job_claimable;
CREATE INDEX job_due ON job (tenant_id, claimable_at, id) WHERE claimable_at IS NOT NULL;
