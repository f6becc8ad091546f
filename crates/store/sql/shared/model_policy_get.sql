SELECT providers FROM model_policy WHERE tenant_id = $1
