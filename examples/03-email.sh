#!/usr/bin/env bash
# An e-mail with two PDF attachments becomes a deal and its loss-run requests. The second delivery makes nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh
mail=../samples/mail/01-loss-run-renewal.eml

send() { api POST /api/inbound/email -H 'Content-Type: message/rfc822' --data-binary "@$mail"; }
first=$(send)
echo "first delivery:  $first"
echo "second delivery: $(send)"
id=$(field taskId <<<"$first")
task=$(api GET "/api/tasks/$id?waitMs=30000")
echo "intent $(field detectedIntent <<<"$task") with confidence $(field confidenceScore <<<"$task")"
echo "task $id: $(field status <<<"$task")"
api GET "/api/tasks/$id/artifacts" | python3 -c '
import json, sys
for link in json.load(sys.stdin)["items"]:
    print("  %-8s %-27s by %s" % (link["role"], link["kind"], link["stepId"]))'
