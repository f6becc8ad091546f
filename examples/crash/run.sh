#!/bin/sh
# A shop whose server is killed with kill -9 twice in the middle of its orders, and what that proves.
#   examples/crash/run.sh [KYBERN [FOLDER]]    FOLDER keeps the evidence; it is removed when none is named
set -eu
kybern=${1:-kybern}
here=$(cd "$(dirname "$0")" && pwd)
kept=${2:-}
folder=${2:-$(mktemp -d)}
mkdir -p "$folder"

# The world: a model and a payment service. They are no part of what is killed.
python3 "$here/world.py" "$folder" &
world=$!
supervisor=
stop() {
    touch "$folder/stop"
    kill "$world" 2>/dev/null || true
    if [ -e "$folder/pid" ]; then kill "$(cat "$folder/pid")" 2>/dev/null || true; fi
    if [ -n "$supervisor" ]; then wait "$supervisor" 2>/dev/null || true; fi
    if [ -z "$kept" ]; then rm -rf "$folder"; fi
}
trap stop EXIT
until [ -e "$folder/world.port" ]; do sleep 0.05; done
address=127.0.0.1:$(cat "$folder/world.port")
listen=127.0.0.1:$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
cat >"$folder/kybern.toml" <<END
[egress]
allow = ["$address"]
[providers.desk]
kind = "custom"
base_url = "http://$address/v1"
models = [{ name = "clerk", json_schema = true }]
END
KYBERN_API_KEY=kyb_$(python3 -c 'import secrets; print(secrets.token_hex(16))')
export KYBERN_API_KEY KYBERN_URL="http://$listen"

# What systemd does with Restart=always: a server that is gone is started again. Nobody does more for it.
(
    trap '' TERM
    until [ -e "$folder/stop" ]; do
        KYBERN_ADMIN_KEY=$KYBERN_API_KEY "$kybern" serve --config "$folder/kybern.toml" --listen "$listen" \
            --database "sqlite:$folder/kybern.db" >>"$folder/server.log" 2>&1 &
        echo $! >"$folder/pid"
        wait $! || true
    done
) 2>/dev/null &
supervisor=$!

# Says it again, under the same key, until somebody has taken it.
again() {
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        if "$@" 2>>"$folder/client.log"; then return; fi
        sleep 0.3
    done
    echo "gave up: $*" >&2
    return 1
}
again "$kybern" plan import "$here/order.json" >/dev/null
echo "6 orders come in, while the server is killed:"
for n in 1 2 3 4 5 6; do
    payload="{\"order\": \"B-$n\", \"grams\": ${n}00, \"cents\": ${n}250, \"payments\": \"http://$address\"}"
    again "$kybern" task submit "one book" --plan shop.order --payload "$payload" --idempotency-key "order-$n" --json \
        >>"$folder/taken.jsonl"
    echo "B-$n" >>"$folder/orders"
done
for id in $(python3 -c 'import json, sys; [print(json.loads(line)["id"]) for line in sys.stdin]' <"$folder/taken.jsonl"); do
    again "$kybern" task watch "$id" >/dev/null
    "$kybern" task log "$id" --json >"$folder/log-$id.json"
done
"$kybern" task list --json >"$folder/tasks.json"
"$kybern" outbox list --json >"$folder/outbox.json"
echo "What that proves:"
python3 "$here/check.py" "$folder"
echo "every claim holds"
