SELECT body FROM frozen_plan WHERE tenant_id = $1 AND hash = $2
