"""Loss-run requests with something in the way: scans, locked and broken files, archives, form fields, contradictions, large fleets."""
import dec_draw
import dec_html
from bodies import greet, insured_writer, letter, office_writer
from mails_requests import ASK, LR, by_insurer, note, subject
from papers import card_lines, declare, scan_lines
from produce import encrypt, picture, said, scan, sheet, zipped
from style import Style
from truth import Truth
from values import *


def one(w, r, d, **k):
    e = w.company(r)
    return e, w.policy(r, e, w.ins(r)[0], k.pop("lines", None), d, **k)


def text_of(r, p):
    return r.choice(ASK["en"]).format(ins=p.ins.short, y=5)


def all_optional(m, fields=("policy_number", "effective_date", "expiry_date", "naic_number", "coverage_type", "limit", "vin", "carrier", "driver_name", "dot_number", "mc_number", "insured_name")):
    for f in fields:
        for x in m.t["fields"].get(f, []):
            x["optional"] = True


def scanned(w, r, n, d):
    """The only paper is a picture; the mail names no insurer and no policy."""
    e, p = one(w, r, d, units=r.choice([0, 1, 2]))
    st = Style(r, "en", w)
    lines = scan_lines(p, st)
    m = Truth(w, f"{n:03d}-request-scan.eml", "the only paper is a scan without text", LR, True, "the paper needs OCR or a person; the mail names no insurer and no policy")
    name = r.choice(["scan.pdf", "SCN_0043.pdf", "20260311_0914.pdf", "img-112.pdf"])
    m.paper(name, "dec_page", "ocr", text_in_picture=said(lines), layout="scan").policy(p, "picture:" + name, st, optional=True)
    wr = insured_writer(e)
    wr.org = e.name
    raw = letter(r, w, wr, d, r.choice(["scan", "loss runs", "policy", "Scanned document"]), [r.choice(["loss runs on this please", "Can you get us the loss runs for the attached policy", "need loss history for this one, thank you"])], [(name, scan(picture(lines, n, angle=r.uniform(-1.5, 1.5))))], sign="phone")
    if e.name in raw.decode("latin-1"):
        m.ent(e, "signature", "name")
    wr.truth(m)
    m.agency().wants(e, "renewal", by_insurer([p]), "created after review").no("requests from a guess")
    return m, raw


def locked(w, r, n, d):
    e, p = one(w, r, d)
    m = Truth(w, f"{n:03d}-request-locked.eml", "the paper is encrypted, the password is to come another way", LR, True, "paper cannot be opened: ask for the password")
    name, data = declare(m, r, w, [p], deck=[("pdf", dec_draw.blocks), ("pdf", dec_draw.flowing)], readable=False)
    word = f"{e.short.split()[0].lower()}{r.randrange(1000, 9999)}"
    m.t["attachments"][0]["password"] = word
    all_optional(m)
    m.t["not_fields"] = {}
    m.ent(e, "body", "name").F("carrier", p.ins.name, "body", True)
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, r.choice(["secure document", "loss runs (protected file)", "Claims history"]), greet(r, "en", w.agency.who.split()[0]) + [f"Please ask {p.ins.name} for the loss runs of {e.name}. " + r.choice(["The file is locked, I will call with the password.", "Password follows by text.", "You know the password."])], [(name, encrypt(data, word))])
    wr.truth(m)
    m.agency().wants(e, "new_business", by_insurer([p]), "created after review")
    return m, raw


def broken(w, r, n, d):
    e, p = one(w, r, d, lines=["auto_liability", "physical_damage"], units=r.choice([2, 3, 4]), drivers=0)
    m = Truth(w, f"{n:03d}-request-broken.eml", "the declarations page is cut off in the middle; the list of units is good", LR, True, "dec page cannot be read: ask for it again, keep the units")
    st = Style(r, "en", w)
    half = dec_draw.flowing(st, [p])
    half = half[:len(half) * r.choice([4, 5, 6]) // 10]
    h, rows = st.veh_table(p.veh)
    sep, cs = r.choice([(";", "cp1252"), (",", "utf-8"), ("\t", "utf-8")])
    m.paper("dec.pdf", "dec_page", False, note="cut off").paper("units.csv", "vehicle_schedule", layout="csv")
    for v in p.veh:
        m.vin(v["vin"], "att:units.csv")
    m.ent(e, "body", "name dot").F("carrier", p.ins.name, "body")
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, subject(r, "en", e, [p]), greet(r, "en", w.agency.who.split()[0]) + [r.choice(["Please order loss runs for {e}, DOT {dot}, from {i}.", "We ({e}, USDOT {dot}) need loss runs from {i}."]).format(e=e.name, dot=e.dot, i=p.ins.name), "Dec page and unit list attached."], [("dec.pdf", half), ("units.csv", sheet([h] + rows, sep, cs))])
    wr.truth(m)
    p.no, keep = "", p.no
    m.agency().wants(e, "renewal", [(p.ins, [])], "created after review")
    p.no = keep
    return m, raw


def archive(w, r, n, d):
    """Two papers in a ZIP."""
    e = w.company(r)
    ps = [w.policy(r, e, i, k, d) for i, k in zip(w.ins(r, 2), (["auto_liability"], ["motor_truck_cargo"]))]
    m = Truth(w, f"{n:03d}-request-zip.eml", "two papers in a ZIP", LR, "either", "False if the ZIP is opened; an honest stop otherwise")
    files, name = {}, r.choice(["docs.zip", f"{e.short}.zip", "policies.zip", "attachments.zip"])
    for i, p in enumerate(ps):
        a, b = declare(m, r, w, [p], deck=[("pdf", dec_draw.blocks), ("pdf", dec_draw.far), ("pdf", dec_draw.mono), ("pdf", dec_draw.boxed)], where=f"att:{name}!")
        files[r.choice(["", "docs/"]) + f"{i + 1} " + a] = b
    layout = "; ".join(x["layout"] for x in m.t["attachments"])
    m.t["attachments"] = []
    m.paper(name, "archive", "zip", contains=list(files), layout=layout)
    wr = insured_writer(e) if r.random() < .5 else office_writer(w.office(r), r)
    if wr.org != e.short:
        m.not_(insured_name=wr.org)
    raw = letter(r, w, wr, d, subject(r, "en", e, ps), greet(r, "en", w.agency.who.split()[0]) + [text_of(r, ps[0]), r.choice(["Both policies are in the zip.", "Zip has the papers, we need it for both.", "See zip file, order both."])], [(name, zipped(files))])
    wr.truth(m)
    m.agency().wants(e, "renewal", by_insurer(ps))
    note(w, m, e, ps)
    return m, raw


def fields_only(w, r, n, d):
    e, p = one(w, r, d, units=r.choice([0, 1, 2, 3]), drivers=r.choice([0, 0, 1]))
    m = Truth(w, f"{n:03d}-request-form.eml", "the values of the paper stand in form fields only", LR, "either", "False if form fields are read; an honest stop otherwise")
    name, data = declare(m, r, w, [p], deck=[("pdf", dec_draw.acroform)], readable="form")
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, subject(r, "en", e, [p]), greet(r, "en", w.agency.who.split()[0]) + [text_of(r, p), r.choice(["Filled in the form for you.", "Form is completed.", ""])], [(name, data)])
    wr.truth(m)
    m.agency().wants(e, "renewal", by_insurer([p]))
    note(w, m, e, [p])
    return m, raw


def contradiction(w, r, n, d):
    """The DOT number of the mail is not that of the paper."""
    e, p = one(w, r, d)
    p.show |= {"dot"}
    i = r.randrange(1, len(e.dot) - 1)
    wrong = e.dot[:i] + e.dot[i + 1] + e.dot[i] + e.dot[i + 2:]
    if wrong == e.dot:
        wrong = e.dot[:-1] + str((int(e.dot[-1]) + 3) % 10)
    m = Truth(w, f"{n:03d}-request-two-dots.eml", "the DOT number in the mail differs from the one in the paper", LR, True, "two DOT numbers for one insured")
    name, data = declare(m, r, w, [p])
    m.F("dot_number", wrong, "body")
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, subject(r, "en", e, [p]), greet(r, "en", w.agency.who.split()[0]) + [text_of(r, p), r.choice(["We are {e}, DOT {n}.", "DOT # {n}", "Our USDOT is {n}."]).format(e=e.name, n=wrong)], [(name, data)])
    wr.truth(m)
    m.agency().wants(e, "renewal", by_insurer([p]), "created after review").no("choose one of the two numbers silently")
    return m, raw


def big_fleet(w, r, n, d):
    """A long schedule over pages, with a wrong VIN or two."""
    e, p = one(w, r, d, lines=["auto_liability", "physical_damage", "um_uim"], units=r.choice([28, 40, 55, 70]), drivers=0)
    p.veh = [dict(v) for v in p.veh]
    for i in r.sample(range(len(p.veh)), r.choice([0, 1, 1, 2])):
        p.veh[i]["vin"] = wrong_vin(r, p.veh[i]["vin"])
    bad = [v["vin"] for v in p.veh if not vin_ok(v["vin"])]
    m = Truth(w, f"{n:03d}-request-fleet.eml", f"{len(p.veh)} units over several pages, {len(bad)} wrong VINs", LR, "either" if bad else False, "complete, but a VIN is wrong: saying so without stopping or stopping are both fair" if bad else "complete")
    name, data = declare(m, r, w, [p], deck=[("pdf", dec_draw.boxed), ("pdf", dec_draw.blocks), ("pdf", dec_draw.far), ("pdf", dec_draw.flowing), ("pdf", dec_draw.wrapped), ("pdf", dec_html.paper), ("pdf", dec_draw.mono)])
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, subject(r, "en", e, [p]), greet(r, "en", w.agency.who.split()[0]) + [text_of(r, p), r.choice(["Full schedule is in the policy.", "All units are listed in the attached.", ""])], [(name, data)])
    wr.truth(m)
    m.agency().wants(e, "renewal", by_insurer([p]))
    note(w, m, e, [p])
    return m, raw


def card_photo(w, r, n, d):
    """A photo of an insurance card; the mail itself names insured, insurer and policy."""
    e, p = one(w, r, d, lines=["auto_liability"], units=1, drivers=0)
    v = p.veh[0]
    m = Truth(w, f"{n:03d}-request-card.eml", "photo of an insurance card; the mail names insurer and policy", LR, "either", "the mail's words are enough; the photo needs OCR or a look")
    name = r.choice(["IMG_2210.jpg", "photo.jpg", "card front.jpg"])
    lines = card_lines(p, v, r)
    f = "picture:" + name
    m.paper(name, "id_card", "ocr", text_in_picture=lines, layout="photo of a card").ent(e, "body", "name").F("carrier", p.ins.name, "body").F("policy_number", p.no, "body")
    m.F("naic_number", p.ins.naic, f, True).F("effective_date", p.eff, f, True).F("expiry_date", p.exp, f, True).F("vin", v["vin"], f, True)
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, subject(r, "en", e, [p]), [r.choice(["Can you get losses from {i}? {e}, policy {n}. Here is my card.", "loss runs please: {e}, {i}, policy {n}", "{e} needs a loss run from {i} on policy {n}, pic of card attached"]).format(i=p.ins.name, e=e.name, n=p.no)], [(name, picture(lines, n, 760, 470, 22, r.uniform(-3, 3), quality=30, noise=300))])
    wr.truth(m)
    m.agency().wants(e, "new_business", by_insurer([p]))
    note(w, m, e, [p])
    return m, raw
