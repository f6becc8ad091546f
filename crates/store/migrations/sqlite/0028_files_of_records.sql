-- A file that a record names is kept as long as the record.
CREATE INDEX record_file ON record_lookup (tenant_id, value) WHERE name = 'file';
