-- The oldest open work is looked for over all tenants, for metrics: since when it is open, and nothing of what it says.
CREATE INDEX task_delegated ON task (tenant_id, id) WHERE status = 'delegated';
CREATE INDEX approval_waiting ON approval (created_at) WHERE status = 'pending';
CREATE INDEX outbox_waiting ON outbox (created_at) WHERE status = 'pending' OR status = 'sending';
CREATE POLICY every_tenant ON delegation FOR SELECT TO kybern_worker USING (true);
GRANT SELECT (tenant_id, task_id, at) ON delegation TO kybern_worker;
GRANT SELECT (created_at) ON outbox, approval TO kybern_worker;
