#!/usr/bin/env python3
"""Writes a new set of development mails with its truth.

    python make.py --seed N [--count 40] --out DIR      -> DIR/mail/NNN-slug.eml, DIR/truth.json

Promise: for one seed and one VERSION (world.py) facts, texts and choices are the same every time; bytes inside
attachments may change with the versions of the producers. Mails are to be fed in the order of their numbers.
"""
import argparse
import collections
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import mails_fleet
import mails_freight
import mails_general
import mails_hard
import mails_leads
import mails_replies
import mails_requests as Q
import mails_service
from values import day, shift
from world import VERSION, World

SHARE = dict(request=16, lead=5, reply=5, service=4, fleet=4, freight=3, general=3)   # of 40
USUAL = [Q.normal] * 5 + [Q.office_paper, Q.office_paper, Q.nested_mail, Q.forwarded, Q.chase, Q.in_body, Q.in_body, Q.only_certificate, Q.cards, Q.pasted]
HARD = [mails_hard.scanned, mails_hard.locked, mails_hard.broken, mails_hard.archive, mails_hard.fields_only, mails_hard.contradiction, mails_hard.big_fleet, mails_hard.card_photo]


def shares(count):
    """How many of each kind; what rounding leaves goes to the requests and to the general mails."""
    out = {k: v * count // 40 for k, v in SHARE.items()}
    out["request"] += count - sum(out.values())
    return out


def plan(w, count):
    """The makers in their order: replies come after the requests they answer."""
    r, n = w.rng("plan"), shares(count)
    hard = (r.sample(HARD, len(HARD)) * (1 + count // 40))[:max(1, n["request"] * 4 // 16)] if n["request"] > 2 else []
    usual = (USUAL + r.sample(USUAL, len(USUAL)) * (count // 8))[:]
    makers = hard + r.sample(usual[:max(len(USUAL), n["request"])], n["request"] - len(hard)) if n["request"] else []
    for kind, module in (("lead", mails_leads), ("service", mails_service), ("fleet", mails_fleet), ("freight", mails_freight), ("general", mails_general)):
        makers += module.makers(r, n[kind])
    r.shuffle(makers)
    chases = [m for m in makers if m is Q.chase]
    makers = [m for m in makers if m is not Q.chase]
    for late in chases + mails_replies.makers(r, n["reply"]):
        makers.insert(r.randrange(len(makers) // 2, len(makers) + 1), late)
    return makers


def build(seed, count):
    """-> (world, {file: bytes}, {file: truth})."""
    w, mails, truth = World(seed), {}, {}
    d, step = w.base, w.rng("days")
    for n, maker in enumerate(plan(w, count), 1):
        d = shift(d, step.choice([0, 1, 1, 2, 2, 3]))
        while day(d).weekday() > 4 and step.random() < .8:
            d = shift(d, 1)
        m, raw = maker(w, w.rng("mail", n), n, d)
        mails[m.file], truth[m.file] = raw, m.close()
        m.t["maker"] = maker.__name__
    return w, mails, truth


def requests(files):
    """after_all: one for each insured and insurer."""
    out = {}
    for k, t in files.items():
        for x in t["records"]:
            if x["kind"] == "loss_run_request" and x["action"].startswith(("created", "merged")):
                q = out.setdefault((x["insured"], x["insurer"]), dict(insured=x["insured"], insurer=x["insurer"], policies=[], made_by=k, after_review=x["action"] == "created after review", review=t["review"]))
                q["policies"] += [p for p in x.get("policy_numbers", []) if p not in q["policies"]]
    return list(out.values())


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--seed", required=True)
    p.add_argument("--count", type=int, default=40)
    p.add_argument("--out", required=True)
    p.add_argument("--layouts", action="store_true", help="also print how often each layout came")
    a = p.parse_args()
    w, mails, files = build(a.seed, a.count)
    makers = {k: t.pop("maker") for k, t in files.items()}
    os.makedirs(f"{a.out}/mail", exist_ok=True)
    for f in os.listdir(f"{a.out}/mail"):
        if f.endswith(".eml") and f not in mails:
            os.remove(f"{a.out}/mail/{f}")
    for k, raw in mails.items():
        with open(f"{a.out}/mail/{k}", "wb") as f:
            f.write(raw)
    truth = dict(
        preconditions=dict(order=f"Feed 001 to {a.count:03d} in order, one tenant.", made=dict(seed=a.seed, count=a.count, version=VERSION),
                           tenant=dict(name=w.agency.name, own_domain=w.agency.domain, note="The agency is never the insured, its telephones and addresses are never the insured's."),
                           seed_records=[dict(kind="entity", entity_type="insurance_carrier", name=i.name, naic=i.naic, domain=i.domain) for i in w.insurers],
                           tokens=w.tokens, tokens_note="Replies carry these ids. run.py replaces them by the ids that the server gave to the requests."),
        intents=dict(collections.Counter(t["intent"] for t in files.values()).most_common()), files=files, after_all=dict(loss_run_requests=requests(files)))
    with open(f"{a.out}/truth.json", "w", encoding="utf-8") as f:
        json.dump(truth, f, indent=1, ensure_ascii=False)
    print(len(mails), "mails,", sum(map(len, mails.values())) // 1024, "KiB,", truth["intents"], len(truth["after_all"]["loss_run_requests"]), "loss-run requests")
    if a.layouts:
        for k, n in sorted(w.layouts.items()):
            print(f"{n:4} {k}")
        print(collections.Counter(makers.values()))


if __name__ == "__main__":
    main()
