-- Open work is counted over all tenants, for metrics: how much there is, and nothing of what it says.
CREATE INDEX outbox_unsent ON outbox (status) WHERE status <> 'sent';
CREATE POLICY every_tenant ON outbox FOR SELECT TO kybern_worker USING (true);
CREATE POLICY every_tenant ON approval FOR SELECT TO kybern_worker USING (true);
GRANT SELECT (status) ON outbox, approval TO kybern_worker;
