#!/usr/bin/env bash
# A paper of a kind that no pack knows: the plan brings the schema by which it is read.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh

json POST /api/plans @plans/delivery_note.json >/dev/null
sent=$(sed "s/MESSAGE-NUMBER/$(date +%s)-$$/" mail/delivery-note.eml |
    api POST /api/inbound/email -H 'Content-Type: message/rfc822' --data-binary @-)
id=$(field taskId <<<"$sent")
task=$(api GET "/api/tasks/$id?waitMs=30000")
echo "task $id: $(field status <<<"$task")"
echo "the note says: $(field result <<<"$task")"
echo "where its number stands: $(field state.extractions.0.fields.0.source <<<"$task")"
# A faulty schema is refused when the plan is checked, with the place and the reason.
broken=$(sed 's/"DN-\[0-9\]{4}-\[0-9\]{6}"/"DN-[0-9"/' plans/delivery_note.json)
echo "a broken pattern: $(json POST /api/plans/check "$broken")"
