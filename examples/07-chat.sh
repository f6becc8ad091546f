#!/usr/bin/env bash
# A conversation over HTTP: a message and its answer, the same turn as events, knowledge that is found, and what a model
# would be told. Without a configured model the answer says so; the rest works all the same.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh

chat=$(json POST /api/chats '{"agent": "assistant"}' | field id)
answer=$(json POST "/api/chats/$chat/messages" '{"content": "Who pays when a pallet arrives late?"}')
content=$(field content <<<"$answer")
echo "answer: ${content:0:100}…"
echo "finish reason: $(field finishReason <<<"$answer")"

echo "the same turn as events:"
message=$(field messageId <<<"$answer")
api GET "/api/chats/$chat/stream?message=$message" | sed -n 's/^event: /  /p'

echo "knowledge:"
document=$(api POST /api/knowledge -F title='Terms of carriage' -F 'file=@knowledge/terms.txt;type=text/plain' | field id)
until [ "$(api GET "/api/knowledge/$document" | field status)" = ready ]; do sleep 0.2; done
api POST "/api/knowledge/$document/publish" >/dev/null
api GET '/api/knowledge/search?query=who+pays+for+a+late+pallet' | python3 -c '
import json, sys
found = json.load(sys.stdin)["items"][0]
print("  %s: %s" % (found["title"], found["text"].splitlines()[0]))'

echo "what a model would be told, by layer:"
json POST /api/prompts/preview '{"agent": "assistant", "content": "Who pays when a pallet arrives late?"}' | python3 -c '
import json, sys
for layer in json.load(sys.stdin)["layers"]:
    print("  %-12s about %s tokens" % (layer["layer"], layer["tokens"]))'
api DELETE "/api/knowledge/$document" >/dev/null
