-- The oldest open work is looked for over all tenants, for metrics.
CREATE INDEX task_delegated ON task (tenant_id, id) WHERE status = 'delegated';
CREATE INDEX approval_waiting ON approval (created_at) WHERE status = 'pending';
CREATE INDEX outbox_waiting ON outbox (created_at) WHERE status = 'pending' OR status = 'sending';
