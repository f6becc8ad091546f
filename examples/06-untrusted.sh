#!/usr/bin/env bash
# A receiver that comes out of a mail: the plan may not write to it before a person says yes.
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
# An empty answer is the yes. It holds for exactly these arguments, once. {"resolution": "fail"} is the no.
json POST "/api/tasks/$id/review" '{"corrections": {}}' >/dev/null
task=$(api GET "/api/tasks/$id?waitMs=30000")
echo "after the yes: $(field status <<<"$task")"
echo "outbox: $(api GET '/api/outbox?limit=1' | field items.0.status), because no SMTP server is configured"
