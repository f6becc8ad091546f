UPDATE outbox SET status = $4, error = $5, sent_at = CASE WHEN $4 = 'sent' THEN $6 ELSE sent_at END,
    attempts = attempts + CASE WHEN $4 = 'sending' THEN 1 ELSE 0 END
WHERE tenant_id = $1 AND id = $2 AND status = $3
