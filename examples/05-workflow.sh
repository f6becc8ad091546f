#!/usr/bin/env bash
# A step that an outside workflow does, and a child task beside it. Needs receiver.py and examples/kybern.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh
needs_receiver

json POST /api/plans @plans/hello.json >/dev/null
json POST /api/plans @plans/quote.json >/dev/null
task=$(json POST /api/tasks '{
  "channel": "api", "planKey": "example.quote", "input": "a quote, please",
  "payload": {"order": "C-1", "customer": "Robin"}
}')
id=$(field id <<<"$task")
for _ in $(seq 1 100); do
    task=$(api GET "/api/tasks/$id")
    status=$(field status <<<"$task")
    if [ "$status" != "${before:-}" ]; then
        echo "task $id: $status"
        before=$status
    fi
    case $status in completed | failed | cancelled | needs_review) break ;; esac
    sleep 0.2
done
needs_completed "$task"
echo "result $(field result <<<"$task")"
echo "callbacks as the receiver saw them:"
curl -sS http://127.0.0.1:8099/seen | python3 -c '
import json, sys
for item in json.load(sys.stdin)["items"]:
    if item["what"] == "callback" and sys.argv[1] in item["answer"] + sys.argv[1] * (item["status"] >= 400):
        print("  %s %s" % (item["status"], item["answer"]))' "$id"
