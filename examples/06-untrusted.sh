#!/usr/bin/env bash
# A message to an address that comes out of a mail: it is not sent before a person says yes.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh

json POST /api/plans @plans/acknowledge.json >/dev/null
sent=$(sed "s/MESSAGE-NUMBER/$(date +%s)-$$/" mail/site-visit.eml |
    api POST /api/inbound/email -H 'Content-Type: message/rfc822' --data-binary @-)
id=$(field taskId <<<"$sent")
task=$(api GET "/api/tasks/$id?waitMs=30000")
echo "task $id: $(field status <<<"$task")"
echo "why: $(field waits.0.reason <<<"$task")"
# An empty answer is the yes, for exactly these arguments. {"resolution": "fail"} is the no.
json POST "/api/tasks/$id/review" '{"corrections": {}}' >/dev/null
task=$(api GET "/api/tasks/$id?waitMs=30000")
echo "after the yes: $(field status <<<"$task")"
echo "its message in the outbox, which stays there without an SMTP server:"
api GET /api/outbox | python3 -c '
import json, sys
print("  " + next(item["status"] for item in json.load(sys.stdin)["items"] if item["channel"] == "email"))'
