#!/usr/bin/env python3
"""The world around the shop: a language model and a payment service, on the standard library alone.

world.py FOLDER: what arrives is a line in FOLDER/world.log before it is answered. Twice it kills the server whose process
id stands in FOLDER/pid, with SIGKILL and without answering: at the second question, and at the third charge, which is
booked by then.
"""

import json
import os
import signal
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

FOLDER = Path(sys.argv[1])
lock = threading.Lock()
log = open(FOLDER / "world.log", "a", encoding="utf-8")
counts = {"question": 0, "charge": 0}
charges = {}  # Idempotency-Key -> the answer that was given
kills = {("question", 2), ("charge", 3)}


def note(what, detail):
    """Writes a line; says whether this is when the server dies."""
    with lock:
        counts[what] += 1
        process = int((FOLDER / "pid").read_text())
        line = {"what": what, "process": process, "at": time.time(), **detail}
        dies = (what, counts[what]) in kills
        if dies:
            line["killed"] = True
        print(json.dumps(line), file=log, flush=True)
    if dies:
        os.kill(process, signal.SIGKILL)
        print(f"  kill -9 {process}, in the middle of a {what}", flush=True)
    return dies


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        if self.path.endswith("/chat/completions"):
            return self.choose(raw.decode())
        return self.charge(json.loads(raw))

    def choose(self, asked):
        order = "B-" + asked.split("Order B-", 1)[1].split(" ", 1)[0]
        grams = int(asked.split("weighs ", 1)[1].split(" ", 1)[0])
        if note("question", {"order": order}):
            return self.hang_up()
        carrier = json.dumps({"carrier": "letter" if grams < 500 else "parcel"})
        message = {"role": "assistant", "content": carrier}
        return self.answer({
            "id": f"a-{order}", "object": "chat.completion", "created": 1, "model": "clerk",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25},
        })

    def charge(self, body):
        key = self.headers.get("Idempotency-Key", "")
        with lock:
            is_new = key not in charges
            kept = charges.setdefault(key, {"charge": f"ch-{len(charges) + 1}"})
        if note("charge", {"order": body["order"], "key": key, "booked": is_new, "cents": body["cents"]}):
            return self.hang_up()
        return self.answer(kept)

    def hang_up(self):
        self.close_connection = True

    def answer(self, body):
        raw = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(raw)))
        self.end_headers()
        self.wfile.write(raw)

    def log_message(self, *_args):
        """The notes say more than a line for each request."""


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
(FOLDER / "world.port.new").write_text(str(server.server_address[1]))
(FOLDER / "world.port.new").rename(FOLDER / "world.port")
server.serve_forever()
