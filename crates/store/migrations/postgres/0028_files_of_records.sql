-- A file that a record names is kept as long as the record.
CREATE INDEX record_file ON record_lookup (tenant_id, value) WHERE name = 'file';

-- The function below runs as the owner of the tables, who sees nothing without one.
CREATE POLICY one_tenant_of_owner ON record_lookup TO CURRENT_USER
    USING (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('kybern.tenant_id', true), '')::uuid);

CREATE OR REPLACE FUNCTION kybern_remove_files(before BIGINT, most BIGINT) RETURNS BIGINT LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    mine UUID := nullif(current_setting('kybern.tenant_id', true), '')::uuid;
    removed BIGINT;
BEGIN
    DELETE FROM blob WHERE tenant_id = mine AND touched_at < before AND hash IN (
        SELECT hash FROM blob AS old WHERE old.tenant_id = mine AND old.touched_at < before
            AND NOT EXISTS (SELECT 1 FROM attachment WHERE tenant_id = mine AND hash = old.hash)
            AND NOT EXISTS (SELECT 1 FROM knowledge WHERE tenant_id = mine AND hash = old.hash)
            AND NOT EXISTS (SELECT 1 FROM record_lookup WHERE tenant_id = mine AND value = old.hash AND name = 'file')
        LIMIT most);
    GET DIAGNOSTICS removed = ROW_COUNT;
    RETURN removed;
END $$;

-- It sees these tables and no others of the same names; replacing it has forgotten that.
DO $$
BEGIN
    EXECUTE format('ALTER FUNCTION kybern_remove_files(BIGINT, BIGINT) SET search_path = %I, pg_temp', current_schema());
END $$;
