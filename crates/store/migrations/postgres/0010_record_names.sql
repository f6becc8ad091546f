-- A message names records by their keys and identifiers, and says nothing of their kinds.
CREATE INDEX record_key ON record (tenant_id, key);
CREATE INDEX record_identifier ON record_lookup (tenant_id, value) WHERE is_unique = 1;
