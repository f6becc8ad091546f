# A task that waits for a person: its stream stays open, and what was written has to come at once.
KEPT_TASK=$(curl -sS --fail -H "Authorization: Bearer $KYBERN_API_KEY" -H 'Content-Type: application/json' \
  "https://$SITE/api/tasks?waitMs=20000" -d '{"input": "something that nobody can know"}' \
  | sed 's/.*"id":"\([^"]*\)".*/\1/;q')
curl -sS -N --max-time 3 -H "Authorization: Bearer $KYBERN_API_KEY" "https://$SITE/api/tasks/$KEPT_TASK/events" \
  > stream || test $? = 28
grep -q '^event: ' stream
KEPT_PID=$(systemctl show --property MainPID --value kybern)
