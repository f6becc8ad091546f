#!/usr/bin/env python3
"""Checks a set that make.py wrote.

    python check.py DIR [--score path/to/score.py]

Promise: every mail parses; every value of the truth stands in its mail or in a paper that can be read (text drawn
into a picture counts as told by `text_in_picture`, a password in the truth opens a locked paper); no value of
not_fields is among the fields; check digits are right or, for vin_suspect, wrong. With --score a perfect
prediction must be scored as perfect and an empty one as nothing.
"""
import argparse
import datetime as dt
import email
import email.policy
import html
import importlib.util
import io
import json
import os
import re
import shutil
import subprocess
import sys
import unicodedata
import zipfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from values import ALL_DATES, vin_ok

POPPLER = shutil.which("pdftotext")


def flat(s):
    s = "".join(c for c in unicodedata.normalize("NFKD", s) if not unicodedata.combining(c)).casefold()
    return re.sub(r"[^a-z0-9]", "", s)


def tags(s):
    return html.unescape(re.sub(r"(?s)<script.*?</script>|<style.*?</style>|<[^>]+>", " ", s))


def cell(v):
    return v.strftime("%m/%d/%Y") if isinstance(v, (dt.date, dt.datetime)) else "" if v is None else str(v)


def pdf(data, password):
    """The text of a PDF in several reading orders, and its form fields."""
    import pikepdf
    import pypdf
    if password:
        with pikepdf.open(io.BytesIO(data), password=password) as d:
            b = io.BytesIO()
            d.save(b)
            data = b.getvalue()
    r = pypdf.PdfReader(io.BytesIO(data), strict=True)
    out = [str(f.get("/V", "")) for f in (r.get_fields() or {}).values()]
    if POPPLER:
        for how in ([], ["-layout"], ["-raw"]):
            out.append(subprocess.run([POPPLER, *how, "-", "-"], input=data, capture_output=True).stdout.decode("utf-8", "replace"))
    else:
        out += [p.extract_text() for p in r.pages] + [p.extract_text(extraction_mode="layout") for p in r.pages]
    return "\n".join(out)


def read(name, data, password=None):
    n = name.lower()
    try:
        if data[:5] == b"%PDF-":
            return pdf(data, password)
        if n.endswith(".docx"):
            import docx
            d = docx.Document(io.BytesIO(data))
            s = d.sections[0]
            return "\n".join([p.text for p in d.paragraphs] + [c.text for t in d.tables for r in t.rows for c in r.cells] + [p.text for p in s.header.paragraphs + s.footer.paragraphs])
        if n.endswith(".xlsx"):
            import openpyxl
            return "\n".join(" | ".join(cell(c) for c in r) for ws in openpyxl.load_workbook(io.BytesIO(data)) for r in ws.iter_rows(values_only=True))
        if data[:2] == b"PK":
            z = zipfile.ZipFile(io.BytesIO(data))
            return "\n".join(read(i, z.read(i)) for i in z.namelist())
    except Exception as x:
        return f"unreadable: {x}"
    for cs in ("utf-8", "cp1252"):
        try:
            s = data.decode(cs)
            return s + tags(s) if n.endswith((".htm", ".html")) else s
        except UnicodeDecodeError:
            pass
    return ""


def walk(m, password):
    out = [str(m.get(h, "")) for h in ("subject", "from", "to", "reply-to")]
    for p in m.walk():
        if p.is_multipart():
            if p.get_content_type() == "message/rfc822":
                out += [str(p.get_payload(0).get(h, "")) for h in ("subject", "from")]
            continue
        data, t = p.get_payload(decode=True) or b"", p.get_content_type()
        if p.get_content_disposition() == "attachment" or p.get_filename():
            out.append(read(p.get_filename() or "", data, password))
        elif t.startswith(("text/", "message/")):
            s = data.decode(p.get_content_charset() or "utf-8", "replace")
            out.append(tags(s) if t == "text/html" else s)
    return "\n".join(out)


def ways(field, e):
    """The spellings, all flat, one of which must stand in the text."""
    v = e["value"]
    if field == "coverage_type" and "as" in e:
        return {flat(e["as"])}
    if isinstance(v, (int, float)):
        w = {flat(f"{v:.2f}"), flat(str(v))}
        return w | ({flat(str(int(v)))} if float(v).is_integer() else set())
    if re.fullmatch(r"\d{4}-\d\d-\d\d", v):
        return {flat(f(v)) for f in ALL_DATES}
    w = {flat(v)}
    if field == "license_number" and re.match(r"[A-Z]{2} ", v):
        w.add(flat(v[3:]))
    if field in ("driver_name", "contact_name") and " " in v:
        a, b = v.split(" ", 1)
        w.add(flat(b + a))
    if field == "contact_phone":
        w.add(re.sub(r"\D", "", v)[-10:])
    return w


def check(d, k, t, bad):
    raw = open(f"{d}/mail/{k}", "rb").read()
    m = email.message_from_bytes(raw, policy=email.policy.default)
    defects = [x for p in m.walk() for x in p.defects]
    if defects:
        bad.append(f"{k}: {defects}")
    if any(len(x) > 998 for x in raw.split(b"\r\n")) or b"\n" in raw.replace(b"\r\n", b""):
        bad.append(f"{k}: long line or bare newline")
    for x in re.findall(rb"[\w.-]+@[\w.-]+", b"\n".join(str(m.get(h, "")).encode() for h in ("from", "to", "reply-to"))):
        if not x.endswith(b".example"):
            bad.append(f"{k}: address {x} is not reserved")
    have = {p.get_filename() for p in m.walk() if p.get_filename()}
    for x in t["attachments"]:
        if x["filename"] not in have:
            bad.append(f"{k}: attachment {x['filename']} not there, only {have}")
        if x["readable"] == "zip" and not x.get("contains"):
            bad.append(f"{k}: ZIP without contains")
    s = walk(m, next((x["password"] for x in t["attachments"] if "password" in x), None))
    for x in t["attachments"]:
        locked = read_one(m, x["filename"]) if x["readable"] in (False, "ocr") and x["kind"] == "dec_page" else ""
        if len(flat(locked)) > 40:
            bad.append(f"{k}: {x['filename']} can be read, though the truth says it cannot")
    body, pic = flat(s), flat(" ".join(w for x in t["attachments"] for w in x.get("text_in_picture", [])))
    n = 0
    fields = [(f, e) for f, es in t["fields"].items() for e in es] + [(f, dict(value=v, where=["not_fields"])) for f, vs in t["not_fields"].items() if f not in ("contact_phone", "insured_name", "contact_email", "coverage_type") for v in vs]
    for f, e in fields:
        n += 1
        if f == "address" and all(flat(x) in body for x in e["value"].split(", ", 1)):
            continue
        if not any(x and (x in body or (any("picture" in y for y in e["where"]) and x in pic)) for x in ways(f, e)):
            bad.append(f"{k}: {f} {e['value']!r} ({', '.join(e['where'])}) not found")
    for f, vs in t["not_fields"].items():
        both = {flat(str(v)) for v in vs} & {flat(str(e["value"])) for e in t["fields"].get(f, [])}
        if both:
            bad.append(f"{k}: {f} {both} is a value and a trap")
    for f, ok in (("vin", True), ("vin_suspect", False)):
        bad += [f"{k}: {f} {e['value']}" for e in t["fields"].get(f, []) if vin_ok(e["value"]) != ok]
    return n


def read_one(m, name):
    for p in m.walk():
        if p.get_filename() == name:
            text = read(name, p.get_payload(decode=True) or b"")
            return "" if text.startswith("unreadable") else text
    return ""


def scored(path, truth):
    """A perfect prediction against the scorer."""
    spec = importlib.util.spec_from_file_location("score", path)
    S = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(S)
    reqs = [dict(insured=r["insured"], insurer=r["insurer"], policy_numbers=r["policies"]) for r in truth["after_all"]["loss_run_requests"]]
    best = dict(files={k: dict(intent=t["intent"], review=t["review"] is True, fields={f: [e["value"] for e in es if not e.get("optional")] for f, es in t["fields"].items()}) for k, t in truth["files"].items()}, loss_run_requests=reqs)
    R, bad = S.score(truth, best), []
    bad += [f"score: {k} {x['notes']}" for k, x in R["per_file"].items() if x["bad"]]
    q = R["requests"]
    if q["created"] != q["expected"] or q["policies_right"] != q["policies_expected"] or q["not_expected"] or q["twice"]:
        bad.append(f"score: requests {q}")
    X = S.score(truth, {k: dict(intent=t["intent"], review=t["review"] is True, fields=t["not_fields"]) for k, t in truth["files"].items()})
    if X["total"]["hit"]:
        bad.append(f"score: {X['total']['hit']} traps count as right")
    if S.score(truth, {})["total"]["recall"]:
        bad.append("score: an empty prediction finds something")
    return bad


def main():
    a = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument("dir")
    a.add_argument("--score")
    a = a.parse_args()
    T = json.load(open(f"{a.dir}/truth.json", encoding="utf-8"))
    bad, n = [], 0
    names = sorted(f for f in os.listdir(f"{a.dir}/mail") if f.endswith(".eml"))
    if names != sorted(T["files"]):
        bad.append("mails and truth differ")
    for k in names:
        n += check(a.dir, k, T["files"][k], bad)
    for k, t in T["preconditions"]["tokens"].items():
        if t["made_by"] not in T["files"]:
            bad.append(f"token {k}: {t['made_by']} is no mail")
    if a.score:
        bad += scored(a.score, T)
    print(f"{len(names)} mails, {n} values, {len(bad)} complaints")
    print("\n".join(bad))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
