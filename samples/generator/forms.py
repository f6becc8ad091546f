"""Leads that arrive by webhook and by SMS."""

import json
from urllib.parse import urlencode

from . import facts as f
from .truth import Sample, lead, waits


def _json(value: dict) -> bytes:
    return (json.dumps(value, indent=2, ensure_ascii=False) + "\n").encode()


def samples() -> list:
    who, dry = f.SORREL, f.DRYCREEK
    whole = {"formId": "quote-request", "submissionId": "sub-000418", "submittedAt": "2026-01-23T15:04:05Z",
             "companyName": who.name, "dotNumber": who.dot, "mcNumber": who.mc, "phone": who.phone, "email": who.email,
             "address": f"{who.street}, {who.city}", "coverageTypes": ["Auto Liability", "Motor Truck Cargo", "Physical Damage"],
             "powerUnits": 9, "message": "Our renewal is in May and we would like a quote."}
    half = {"formId": "quote-request", "submissionId": "sub-000419", "submittedAt": "2026-01-23T15:09:41Z", "companyName": "",
            "dotNumber": "", "phone": "", "email": "someone@example.net", "coverageTypes": ["General Liability"],
            "message": "please call about a quote"}
    text = f"Need a quote: {dry.name}, DOT {dry.dot}, {dry.city}. 3 trucks, auto liability and cargo. Call back please."
    vague = {"From": "+15125550119", "To": "+15125550100", "Body": "ok see you at 3", "MessageSid": "SM00000000000000000000000000000418"}
    sms = {"From": dry.phone, "To": "+15125550100", "Body": text, "MessageSid": "SM00000000000000000000000000000417"}
    return [
        Sample("webhook/lead.json", _json(whole), lead(who, "A complete web form.", channel="webhook")),
        Sample("webhook/lead-incomplete.json", _json(half), waits(
            "review", "Neither a company name nor a DOT number: a person must supply one before an entity can be made.",
            "insurance.new_lead", channel="webhook")),
        Sample("sms/lead.txt", urlencode(sms).encode(), lead(dry, "Everything is in one sentence.", channel="sms")),
        Sample("sms/no-intent.txt", urlencode(vague).encode(), waits("intent", "Small talk matches no intent.", channel="sms")),
    ]
