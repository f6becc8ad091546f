#!/usr/bin/env bash
# Runs every example against a server of its own, in a temporary folder: examples/check.sh target/debug/kybern
set -euo pipefail
kybern=$(realpath "${1:-target/debug/kybern}")
cd "$(dirname "${BASH_SOURCE[0]}")"
folder=$(mktemp -d)
export KYBERN_URL=http://127.0.0.1:${PORT:-7199}
KYBERN_API_KEY=kyb_$(python3 -c 'import secrets; print(secrets.token_hex(16))')
FORMS_SECRET=whsec_$(python3 -c 'import base64, secrets; print(base64.b64encode(secrets.token_bytes(24)).decode())')
export KYBERN_API_KEY FORMS_SECRET
started=()
stop() {
    for process in "${started[@]}"; do kill "$process" 2>/dev/null || true; done
    rm -rf "$folder"
}
trap stop EXIT

receiver() {
    QUOTE_MODE=$1 python3 receiver.py >>"$folder/receiver.log" 2>&1 &
    receiver=$!
    started+=("$receiver")
    for _ in $(seq 1 50); do curl -sf http://127.0.0.1:8099/rates >/dev/null && return; sleep 0.1; done
    echo "the receiver does not answer" >&2 && return 1
}
# Says what an example printed, and fails when it lacks a text that it has to print.
expect() {
    local name=$1 text=$2 printed
    shift 2
    printed=$("$@" 2>&1) || { echo "✗ $name" && echo "$printed" && exit 1; }
    if ! grep -qF -- "$text" <<<"$printed"; then
        echo "✗ $name: \"$text\" is missing in:" && echo "$printed" && exit 1
    fi
    echo "✓ $name"
}

KYBERN_ADMIN_KEY=$KYBERN_API_KEY "$kybern" serve --config kybern.toml --database "sqlite:$folder/kybern.db" \
    --listen "${KYBERN_URL#http://}" >"$folder/server.log" 2>&1 &
started+=($!)
for _ in $(seq 1 100); do curl -sf "$KYBERN_URL/readyz" >/dev/null && break; sleep 0.1; done
receiver forged

expect 01-first-plan "replay matches: true" ./01-first-plan.sh
expect 02-review '"approved": true, "lines": 2' ./02-review.sh
expect 03-email "insurance.loss_run_request  by create_requests" ./03-email.sh
expect 04-outside-calls "try 2 taken True" ./04-outside-calls.sh
expect "05-workflow, forged first" "401" ./05-workflow.sh
expect 06-untrusted "after the yes: completed" ./06-untrusted.sh
expect 07-chat "retrieved" ./07-chat.sh
expect 08-lessons "the next mail: completed, insurance.new_lead" ./08-lessons.sh
expect 09-own-schema '"number": "DN-2026-004711"' ./09-own-schema.sh
for mode in early twice signed; do
    kill "$receiver" && wait "$receiver" 2>/dev/null || true
    receiver "$mode"
    expect "05-workflow, $mode" '"price": 1250' ./05-workflow.sh
done
expect "signed webhook" '"duplicate":false' python3 signed_webhook.py ../samples/webhook/lead.json msg_1
expect "signed webhook again" '"duplicate":true' python3 signed_webhook.py ../samples/webhook/lead.json msg_1
expect crash "every claim holds" crash/run.sh "$kybern"
echo "every example works"
