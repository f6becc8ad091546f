# Sourced by the examples: one function for a call, one for reading a field of its answer. Needs curl and python3.
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

# field NAME: reads a field of the JSON on standard input, such as status or result.price.
field() {
    python3 -c '
import json, sys
value = json.load(sys.stdin)
for name in sys.argv[1].split("."):
    value = value[int(name)] if name.lstrip("-").isdigit() else value[name]
print(value if isinstance(value, str) else json.dumps(value))' "$1"
}
