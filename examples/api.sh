# Sourced by the examples: functions for calls and for reading fields of their answers. Needs curl and python3.
: "${KYBERN_URL:=http://127.0.0.1:7171}"
: "${KYBERN_API_KEY:?set KYBERN_API_KEY to an API key, kybern serve prints one at its first start}"

# api METHOD PATH [curl options…]: prints the answer; fails with the server's message on an error.
api() {
    local method=$1 path=$2 status body
    shift 2
    body=$(curl -sS -X "$method" -w '\n%{http_code}' -H "Authorization: Bearer $KYBERN_API_KEY" "$@" "$KYBERN_URL$path")
    status=${body##*$'\n'}
    body=${body%$'\n'*}
    if [ "$status" -ge 400 ]; then
        echo "$method $path: $status $body" >&2
        return 1
    fi
    printf '%s\n' "$body"
}

# json METHOD PATH BODY: the same with a JSON body; @FILE reads it from a file.
json() {
    api "$1" "$2" -H 'Content-Type: application/json' --data-binary "$3"
}

# needs_receiver: ends the example when examples/receiver.py does not answer.
needs_receiver() {
    if ! curl -sf -o /dev/null http://127.0.0.1:8099/rates; then
        echo "nothing answers on 127.0.0.1:8099: start examples/receiver.py first, in a terminal of its own" >&2
        exit 1
    fi
}

# needs_completed TASK: ends the example when the task, as JSON, has not completed; says why.
needs_completed() {
    python3 -c '
import json, sys
task = json.load(sys.stdin)
if task["status"] != "completed":
    why = task.get("errorMessage") or "; ".join(wait["reason"] for wait in task.get("waits") or []) or "nothing more is known"
    print("task %s is %s: %s" % (task["id"], task["status"], why), file=sys.stderr)
    print("it completes on a server that was started with --config examples/kybern.toml, beside examples/receiver.py in its default mode", file=sys.stderr)
    sys.exit(1)' <<<"$1"
}

# field NAME: reads a field of the JSON on standard input, such as status or result.price.
field() {
    python3 -c '
import json, sys
text = sys.stdin.read()
try:
    value = json.loads(text)
    for name in sys.argv[1].split("."):
        value = value[int(name)] if name.lstrip("-").isdigit() else value[name]
except (ValueError, LookupError, TypeError):
    sys.exit("there is no %s in the answer: %s" % (sys.argv[1], text[:400]))
print(value if isinstance(value, str) else json.dumps(value))' "$1"
}
