SELECT made_by_user_id FROM app_user WHERE id = $1 AND made_by_user_id IS NOT NULL
UNION
SELECT coalesce(made.made_by_user_id, maker.user_id)
FROM api_key AS made LEFT JOIN api_key AS maker ON maker.id = made.made_by_key_id
WHERE made.user_id = $1 AND coalesce(made.made_by_user_id, maker.user_id) IS NOT NULL
