#!/usr/bin/env bash
# An outside call that is retried and yet happens once. Needs receiver.py and examples/kybern.toml.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh
needs_receiver

json POST /api/plans @plans/deliver.json >/dev/null
task=$(json POST '/api/tasks?waitMs=30000' '{
  "channel": "api", "planKey": "example.deliver", "input": "deliver", "payload": {"order": "B-1"}
}')
needs_completed "$task"
id=$(field id <<<"$task")
echo "task $id: $(field status <<<"$task"), result $(field result <<<"$task")"
echo "what the receiver saw of it:"
curl -sS http://127.0.0.1:8099/seen | python3 -c '
import json, sys
for item in json.load(sys.stdin)["items"]:
    if item["what"] == "order" and sys.argv[1] in item["key"]:
        print("  try %d taken %-5s key %s" % (item["try"], item["taken"], item["key"]))' "$id"
