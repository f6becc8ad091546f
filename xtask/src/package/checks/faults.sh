code() { curl -sS -o /dev/null -w '%{http_code}' "$KYBERN_URL/readyz"; }
until_code() { for _ in $(seq 60); do if test "$(code)" = "$1"; then return; fi; sleep 0.5; done; code; return 1; }
systemctl stop postgresql
until_code 503
systemctl is-active --quiet kybern
systemctl start postgresql
until_code 200

before=$(systemctl show --property MainPID --value kybern)
kill -KILL "$before"
for _ in $(seq 60); do
  after=$(systemctl show --property MainPID --value kybern)
  if test "$after" != 0 && test "$after" != "$before"; then break; fi
  sleep 0.5
done
test "$after" != "$before"
until_code 200
kybern task show "$KEPT_TASK" || test $? = 3
KEPT_PID=$after
