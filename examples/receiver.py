#!/usr/bin/env python3
"""The outside world of the examples, on the standard library alone.

  GET  /rates        a small JSON document
  POST /orders       answers 503 to the first try of each order, then takes it once per Idempotency-Key
  POST /quote        a workflow engine: answers 202 and calls Kybern back
  POST /completions  a completion webhook; its signature is checked when WEBHOOK_SECRET is set
  GET  /seen         what has arrived, for looking at

QUOTE_MODE chooses how /quote calls back: `once` (default), `early` (before it answers the dispatch), `twice`,
`forged` (a wrong secret first), `signed` (a signature instead of the secret), `fail` (the workflow failed).
"""

import base64
import hashlib
import hmac
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PORT = int(os.environ.get("RECEIVER_PORT", "8099"))
QUOTE_MODE = os.environ.get("QUOTE_MODE", "once")
WEBHOOK_SECRET = os.environ.get("WEBHOOK_SECRET", "")

lock = threading.Lock()
tries = {}  # Idempotency-Key -> how often it came
orders = {}  # Idempotency-Key -> the answer that was given
seen = []  # what arrived, in order


def secret_bytes(secret):
    """A Standard Webhooks secret: `whsec_` and base64."""
    text = secret.removeprefix("whsec_")
    return base64.b64decode(text + "=" * (-len(text) % 4))


def signature(secret, message_id, timestamp, body):
    signed = f"{message_id}.{timestamp}.".encode() + body
    return "v1," + base64.b64encode(hmac.new(secret_bytes(secret), signed, hashlib.sha256).digest()).decode()


def is_genuine(headers, body, secret):
    """Checks a delivery from Kybern. A real receiver also drops a webhook-id that it has seen before."""
    message_id, timestamp = headers.get("webhook-id", ""), headers.get("webhook-timestamp", "0")
    if abs(time.time() - int(timestamp)) > 300:
        return False
    expected = signature(secret, message_id, timestamp, body)
    return any(hmac.compare_digest(expected, given) for given in headers.get("webhook-signature", "").split(" "))


def post(url, body, headers):
    request = urllib.request.Request(url, data=body, method="POST")
    for name, value in {"Content-Type": "application/json", **headers}.items():
        request.add_header(name, value)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def call_back(dispatch, mode):
    """What a workflow engine does at its end: one POST to `callbackUrl` with `workflowId` and its result."""
    result = {"workflowId": dispatch["workflowId"], "success": True, "data": {"price": 1250, "currency": "USD"}}
    if mode == "fail":
        result = {"workflowId": dispatch["workflowId"], "success": False, "error": "no price for this order"}
    body, secret = json.dumps(result).encode(), dispatch["callbackSecret"]
    deliveries = {"twice": [secret, secret], "forged": ["not-the-secret", secret]}.get(mode, [secret])
    for given in deliveries:
        headers = {"X-Callback-Secret": given}
        if mode == "signed":
            now = str(int(time.time()))
            padded = secret.replace("-", "+").replace("_", "/")
            headers = {
                "webhook-id": "quote-1",
                "webhook-timestamp": now,
                "webhook-signature": signature("whsec_" + padded, "quote-1", now, body),
            }
        # A server that is restarting takes the same callback later.
        for pause in (0, 1, 2, 4):
            time.sleep(pause)
            try:
                status, answer = post(dispatch["callbackUrl"], body, headers)
            except OSError as error:
                status, answer = 0, str(error)
            if 0 < status < 500:
                break
        note("callback", {"status": status, "answer": answer})


def note(what, detail):
    with lock:
        seen.append({"what": what, **detail})
    print(f"{what}: {json.dumps(detail)}", flush=True)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/rates":
            return self.answer(200, {"standard": 12, "express": 30})
        if self.path == "/seen":
            with lock:
                return self.answer(200, {"items": list(seen)})
        return self.answer(404, {"error": "unknown path"})

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path == "/orders":
            return self.order(raw)
        if self.path == "/quote":
            return self.quote(json.loads(raw))
        if self.path == "/completions":
            return self.completion(raw)
        return self.answer(404, {"error": "unknown path"})

    def order(self, raw):
        key = self.headers.get("Idempotency-Key", "")
        with lock:
            tries[key] = tries.get(key, 0) + 1
            number = tries[key]
            if number > 1:
                orders.setdefault(key, {"accepted": json.loads(raw)["order"], "number": len(orders) + 1})
            kept = orders.get(key)
        note("order", {"key": key, "try": number, "taken": kept is not None})
        if kept is None:
            return self.answer(503, {"error": "busy, come again"})
        return self.answer(201, kept)

    def quote(self, dispatch):
        note("quote", {"workflowId": dispatch["workflowId"], "args": dispatch["args"]})
        if QUOTE_MODE == "early":
            call_back(dispatch, "once")
        else:
            # A real engine may work for minutes or days.
            threading.Timer(1.0, call_back, (dispatch, QUOTE_MODE)).start()
        return self.answer(202, {"accepted": True})

    def completion(self, raw):
        if WEBHOOK_SECRET and not is_genuine(self.headers, raw, WEBHOOK_SECRET):
            note("completion", {"refused": "wrong signature"})
            return self.answer(401, {"error": "wrong signature"})
        event = json.loads(raw)
        note("completion", {"type": event["type"], "taskId": event["data"]["taskId"]})
        return self.answer(200, {})

    def answer(self, status, body):
        raw = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_args):
        """The notes say more than a line for each request."""


if __name__ == "__main__":
    try:
        server = ThreadingHTTPServer(("127.0.0.1", PORT), Handler)
    except OSError as error:
        sys.exit(
            f"cannot listen on 127.0.0.1:{PORT}: {error.strerror}. End what listens there, or choose another port with "
            "RECEIVER_PORT and write it in place of 8099 into every file of examples/ that names it"
        )
    print(f"receiver on http://127.0.0.1:{PORT}, quotes are called back: {QUOTE_MODE}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)
