UPDATE plan SET active = 1 WHERE tenant_id = $1 AND key = $2
    AND version = (SELECT max(newest.version) FROM plan AS newest WHERE newest.tenant_id = $1 AND newest.key = $2)
