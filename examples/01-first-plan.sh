#!/usr/bin/env bash
# A plan of one's own: check it, store it, run it, read its log, replay it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh

echo "check: $(json POST /api/plans/check @plans/hello.json)"
json POST /api/plans @plans/hello.json >/dev/null
task=$(json POST '/api/tasks?waitMs=10000' '{
  "channel": "api", "planKey": "example.hello",
  "input": "a short message", "payload": {"name": "Robin"}
}')
id=$(field id <<<"$task")
echo "task $id: $(field status <<<"$task"), result $(field result <<<"$task")"
echo "log:"
api GET "/api/tasks/$id/log" | python3 -c '
import json, sys
for entry in json.load(sys.stdin)["items"]:
    print("  %-15s %-12s %s" % (entry["eventType"], entry["stepId"] or "", entry["summary"] or ""))'
echo "replay matches: $(api POST "/api/tasks/$id/replay" | field matches)"
