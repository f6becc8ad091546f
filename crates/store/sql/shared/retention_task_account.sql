DELETE FROM account WHERE tenant_id = $1 AND day = 0 AND payer = $2
