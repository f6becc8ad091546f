#!/usr/bin/env bash
# A mail that nobody can place is answered by a person. What that teaches is suggested, looked at and accepted, and the
# next mail of its kind passes without a question.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh

# Each run sends messages of its own.
send() {
    local id
    id=$(sed "s/^Message-ID: <counter-/&$(date +%s)-$$-/" "$1" |
        api POST /api/inbound/email -H 'Content-Type: message/rfc822' --data-binary @- | field taskId)
    api GET "/api/tasks/$id?waitMs=30000"
}
task=$(send ../samples/lessons/walk-in.eml)
id=$(field id <<<"$task")
echo "the first mail: $(field status <<<"$task")"
if [ "$(field status <<<"$task")" = needs_review ]; then
    json POST "/api/tasks/$id/review" '{"corrections": {"intent": "insurance.new_lead"}}' >/dev/null
    for _ in $(seq 1 100); do
        lesson=$(api GET '/api/lessons?status=suggested&kind=intent_example')
        [ "$(field items <<<"$lesson")" = "[]" ] || break
        sleep 0.1
    done
    lesson=$(field items.0.id <<<"$lesson")
    echo "suggested: $(api GET "/api/lessons/$lesson" | field text)"
    echo "mails that it changes: $(api GET "/api/lessons/$lesson/preview" | field changed | grep -o taskId | wc -l)"
    echo "it is $(json POST "/api/lessons/$lesson/accept" '{}' | field status)"
fi
task=$(send ../samples/lessons/walk-in-again.eml)
echo "the next mail: $(field status <<<"$task"), $(field detectedIntent <<<"$task")"
