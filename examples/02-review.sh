#!/usr/bin/env bash
# A task that stops for a person. The order is large, so its plan asks; the answer lets it go on.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. ./api.sh

json POST /api/plans @plans/order.json >/dev/null
order="A-$(date +%s)-$$"
task=$(json POST '/api/tasks?waitMs=10000' '{
  "channel": "api", "planKey": "example.order", "input": "an order",
  "payload": {"order": "'"$order"'", "customer": "Birch Supply",
              "lines": [{"sku": "K-1", "quantity": 120}, {"sku": "K-7", "quantity": 3}]}
}')
id=$(field id <<<"$task")
echo "task $id: $(field status <<<"$task")"
echo "asks: $(field waits.0.title <<<"$task")"

echo "an answer that does not fit the form is refused:"
json POST "/api/tasks/$id/review" '{"corrections": {"approved": "perhaps"}}' 2>&1 | sed 's/^/  /' || true

json POST "/api/tasks/$id/review" '{"corrections": {"approved": true, "note": "known customer"}}' >/dev/null
task=$(api GET "/api/tasks/$id?waitMs=10000")
echo "answered: $(field status <<<"$task"), result $(field result <<<"$task")"

echo "a second answer is refused, because nothing waits any more:"
json POST "/api/tasks/$id/review" '{"corrections": {"approved": false}}' 2>&1 | sed 's/^/  /' || true

echo "records it made:"
api GET "/api/tasks/$id/artifacts" | python3 -c '
import json, sys
for link in json.load(sys.stdin)["items"]:
    print("  %-8s %-20s %s" % (link["role"], link["kind"], link["key"]))'
