#!/usr/bin/env python3
"""Delivers a JSON file to /api/inbound/webhook/forms, signed after Standard Webhooks. No API key is needed.

usage: FORMS_SECRET=whsec_… signed_webhook.py FILE [DELIVERY_ID]
"""

import base64
import hashlib
import hmac
import os
import sys
import time
import urllib.error
import urllib.request
import uuid

if len(sys.argv) < 2 or "FORMS_SECRET" not in os.environ:
    sys.exit(__doc__)
url = os.environ.get("KYBERN_URL", "http://127.0.0.1:7171") + "/api/inbound/webhook/forms"
with open(sys.argv[1], "rb") as file:
    body = file.read()
# The id is signed and deduplicates: the same id is the same delivery, however often it comes.
delivery = sys.argv[2] if len(sys.argv) > 2 else f"msg_{uuid.uuid4().hex}"
now = str(int(time.time()))
secret = os.environ["FORMS_SECRET"].removeprefix("whsec_")
digest = hmac.new(base64.b64decode(secret), f"{delivery}.{now}.".encode() + body, hashlib.sha256).digest()
request = urllib.request.Request(url, data=body, method="POST")
request.add_header("Content-Type", "application/json")
request.add_header("webhook-id", delivery)
request.add_header("webhook-timestamp", now)
request.add_header("webhook-signature", "v1," + base64.b64encode(digest).decode())
try:
    with urllib.request.urlopen(request, timeout=30) as answer:
        print(answer.read().decode())
except urllib.error.HTTPError as error:
    sys.exit(f"{error.code} {error.read().decode()}")
