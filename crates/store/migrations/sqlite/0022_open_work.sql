-- Open work is counted over all tenants, for metrics.
CREATE INDEX outbox_unsent ON outbox (status) WHERE status <> 'sent';
