INSERT INTO job (tenant_id, id, kind, payload, dedupe_key, status, max_attempts, claimable_at, created_at)
VALUES ($1, $2, $3, $4, $5, 'pending', $6, 
    CASE WHEN $8 <= kybern_now($8) THEN $7 ELSE kybern_now($8) + ($7 - $8) END, $8)
