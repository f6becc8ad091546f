"""Service: certificates with holders, endorsements, cancellations, bills, accidents, and several wishes in one mail."""
from bodies import Writer, greet, header_block, insured_writer, letter
from papers import certificate, certificate_truth
from produce import Draw, esc, weasy
from truth import Truth
from values import *

SVC = "insurance.service_request"
COI = {"en": ["Please send a certificate to:", "Need a COI for:", "Can you issue a certificate of insurance to the company below?", "cert holder is", "We got a new customer and they need our COI:", "Could you please email a certificate of insurance for", "COI please -"],
       "es": ["Necesito un certificado de seguro para:", "Por favor manden el certificado (COI) a:"], "fr": ["Pourriez-vous émettre un certificat d'assurance pour :", "Nous avons besoin d'un certificat d'assurance au nom de :"], "de": ["Wir brauchen eine Versicherungsbestätigung (COI) für:"]}
MORE = ["They want to be additional insured.", "Include waiver of subrogation.", "They asked for it today.", "No special wording.", "Holder only.", "Thanks, load is Monday.", ""]


def makers(r, n):
    rest = [endorsement, cancellation, bill, stranger_cert, accident, like_last_year, several_certs, requirements]
    out = [cert] * max(1, n * 5 // 12) if n else []
    out += [several_wishes] if n > 2 and r.random() < .8 else []
    while len(out) < n:
        out += r.sample(rest, len(rest))
    return out[:n]


def client(w, r, lang="en"):
    """An insured known from earlier mails, or a new one."""
    if w.clients and r.random() < .4:
        e = r.choice(w.clients)
        return e
    return w.company(r, lang)


def cert_records(m, e, holder):
    m.R("entity", "resolved or created", entity_type="motor_carrier", name=e.name).R("service_request", "created", type="certificate", insured=e.name, holder=holder).no("loss_run_request", "deal", "invent limits")


def cert(w, r, n, d):
    """A certificate for one holder; short, forwarded, or in an old thread."""
    lang = r.choices(["en", "es", "fr", "de"], [70, 14, 12, 4])[0]
    e, h = client(w, r, lang), w.business(r)
    m = Truth(w, f"{n:03d}-service-cert.eml", f"certificate for one holder, {lang}", SVC, False, "holder and insured named")
    wr = insured_writer(e)
    wr.org, wr.lang = e.name, lang
    block = r.choice([[h.name, h.street, h.city], [h.name], [f"{h.name}, {h.addr}"], [h.name, h.street, h.city, f"certs@{h.domain}"]])
    paras = [r.choice(COI[lang]), ""] + block + [""] + ([r.choice(MORE)] if lang == "en" else [])
    hist = ()
    if r.random() < .35:
        hist = header_block(r, f"{h.name} <ap@{h.domain}>", e.contact, shift(d, -1), "insurance", lang) + [r.choice(["Your file is missing proof of insurance.", "Please have your agent name us as holder.", "No certificate, no load."])]
    raw = letter(r, w, wr, d, {"en": r.choice(["certificate", "COI request", "Cert needed", f"COI - {h.name}", "insurance certificate", "RE: losses"]), "es": "Certificado de seguro", "fr": "Certificat d'assurance", "de": "Versicherungsbestätigung"}[lang], greet(r, lang, w.agency.who.split()[0]) + paras + ([e.name] if r.random() < .3 else []), history=hist)
    m.F("insured_name", e.name, "signature").F("certificate_holder", h.name, "body")
    if h.street in str(block):
        m.F("address", h.addr, "body", True)
    wr.truth(m)
    m.agency().not_(insured_name=h.name)
    cert_records(m, e, h.name)
    return m, raw


def several_certs(w, r, n, d):
    """Two to four holders in a table."""
    e = client(w, r)
    hs = [w.business(r) for _ in range(r.choice([2, 3, 4]))]
    m = Truth(w, f"{n:03d}-service-certs.eml", f"{len(hs)} certificates in a table", SVC, False, "several holders, one insured")
    wr = insured_writer(e)
    wr.org = e.name
    raw = letter(r, w, wr, d, r.choice(["certs", "certificates needed", "list of COIs"]), [r.choice(["Certificates of insurance for these please.", "COIs needed:", "New job sites, need certs for all of them."]), ("table", r.choice([["Holder", "Address", "Type"], ["Company", "Where", "Wording"]]), [[h.name, h.addr, r.choice(["AI", "holder", "AI + WOS"])] for h in hs])])
    m.F("insured_name", e.name, "signature")
    for h in hs:
        m.F("certificate_holder", h.name, "body").F("address", h.addr, "body", True).R("service_request", "created", type="certificate", insured=e.name, holder=h.name)
    wr.truth(m)
    m.agency().not_(insured_name=[h.name for h in hs]).no("loss_run_request", "deal")
    return m, raw


def requirements(w, r, n, d):
    """A customer's insurance requirements: wanted limits are wishes, not the policy."""
    e, h = client(w, r), w.business(r)
    m = Truth(w, f"{n:03d}-service-requirements.eml", "customer's requirements as a paper; limits are wishes", SVC, False, "clear; the limits are wanted ones")
    name = r.choice(["insurance requirements.pdf", "Exhibit B.pdf", "carrier agreement insurance.pdf"])
    f = "att:" + name
    a, c = r.choice([1000000, 2000000]), r.choice([100000, 250000])
    data = weasy(f"<h2>{r.choice(['Insurance requirements', 'Exhibit B - Insurance', 'Carrier standards'])}</h2><ul><li>Automobile liability: minimum ${a:,}</li><li>Motor truck cargo: minimum ${c:,}</li><li>{esc(h.name)} named as additional insured</li></ul><p>Certificate holder:<br>{esc(h.name)}<br>{h.street}<br>{h.city}</p>", "body{font-size:10pt}")
    m.paper(name, "requirements", layout="requirements (weasyprint)").F("certificate_holder", h.name, f).F("address", h.addr, f, True).F("limit", a, f, True).F("limit", c, f, True)
    m.F("coverage_type", "auto_liability", f, True, **{"as": "Automobile liability"}).F("coverage_type", "motor_truck_cargo", f, True, **{"as": "Motor truck cargo"}).F("insured_name", e.name, "signature")
    wr = insured_writer(e)
    wr.org = e.name
    raw = letter(r, w, wr, d, f"{h.name} setup", [r.choice(["Please issue a COI per the attached requirements.", "New customer, their insurance exhibit is attached. Can you send the certificate and tell me if we are short?"])], [(name, data)])
    wr.truth(m)
    m.agency().not_(insured_name=h.name)
    cert_records(m, e, h.name)
    return m, raw


def stranger_cert(w, r, n, d):
    """A freight broker, not the insured, asks for a certificate of an insured."""
    e, o = client(w, r), w.business(r)
    org = o.name.split()[0] + " " + r.choice(["Freight Brokerage", "Logistics Exchange", "Load Services Inc."])
    m = Truth(w, f"{n:03d}-service-stranger.eml", "a freight broker asks for a certificate of an insured", SVC, "either", "clear wish, but the asker is not the insured")
    who = w.person(r)
    wr = Writer(who, f"onboarding@{o.domain}", org, "Carrier Onboarding", w.phone(r))
    mc = w.once(lambda: str(r.randrange(2000011, 3999989)))
    raw = letter(r, w, wr, d, r.choice(["Insurance certificate request", "Carrier packet - COI missing", f"COI for {e.short}"]), [r.choice(["We are setting up {e} as a carrier and need a certificate of insurance from you.", "Your insured {e} asked us to get the COI from you directly."]).format(e=e.name), "Holder:", org, o.street, o.city, f"MC {mc}"])
    m.F("insured_name", e.name, "body").F("certificate_holder", org, "body").F("mc_number", mc, "body (the broker's, not the carrier's)", True).F("address", o.addr, "body", True)
    wr.truth(m)
    m.agency().not_(insured_name=org).R("service_request", "created", type="certificate", insured=e.name, holder=org).no("loss_run_request")
    return m, raw


def like_last_year(w, r, n, d):
    """The same certificate as last year's, which is attached, for a new holder."""
    e, old, h = client(w, r), w.business(r), w.business(r)
    ps = [w.policy(r, e, i, [k], d, units=0, drivers=0) for i, k in zip(w.ins(r, 2), ["auto_liability", "motor_truck_cargo"])]
    m = Truth(w, f"{n:03d}-service-like-last.eml", "wants a certificate like the one attached for a new holder", SVC, False, "clear: new holder stands in the mail")
    data, layout, words = certificate(r, w, e, ps, old, w.agency, shift(d, -200), "")
    m.paper("last cert.pdf", "certificate", layout=layout).F("certificate_holder", h.name, "body")
    certificate_truth(m, "att:last cert.pdf", e, ps, words, old)
    w.layouts[layout] = w.layouts.get(layout, 0) + 1
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, "certificate again", [r.choice(["Same as the attached certificate but the holder is now {h}.", "We need one more like this one, made out to {h}."]).format(h=h.name)], [("last cert.pdf", data)])
    wr.truth(m)
    m.agency().not_(insured_name=[h.name])
    cert_records(m, e, h.name)
    return m, raw


def endorsement(w, r, n, d):
    """Add or remove a unit of a policy; sometimes with a wrong VIN."""
    e, v, bank = client(w, r), fleet(r, 1, r.choice(["T", "R", "L"]))[0], w.bank(r)
    p = w.policy(r, e, w.ins(r)[0], ["auto_liability"], d)
    bad = r.random() < .4
    number = wrong_vin(r, v["vin"]) if bad else v["vin"]
    m = Truth(w, f"{n:03d}-service-endorsement.eml", "add a unit and a lienholder" + (", VIN wrong" if bad else ""), SVC, True if bad else "either", "VIN fails its check digit: ask before anything goes to the insurer" if bad else "clear, but a change of a policy may want a person", ["fleet.vehicle_registration"])
    eff = shift(d, r.randrange(0, 5))
    wr = insured_writer(e)
    wr.org = e.name
    lines = r.choice([["Please add to policy {n} effective {d}:", "{y} {m}", "VIN {v}", "Value ${a:,}, lienholder {b}"], ["endorsement request, pol {n}, eff {d}", "add {y} {m} / {v} / ${a:,}", "loss payee: {b}"], ["We bought a {y} {m} (VIN {v}) for ${a:,}. Add it to {n} as of {d}. Bank is {b}."]])
    lines = [x.format(n=p.no, d=us(eff), y=v["year"], m=f"{v['make']} {v['model']}", v=number, a=v["value"], b=bank.name) for x in lines]
    raw = letter(r, w, wr, d, r.choice(["add unit", "policy change", "Endorsement request", "new truck"]), lines)
    m.F("insured_name", e.name, "signature").F("policy_number", p.no, "body").F("effective_date", eff, "body").F("limit", v["value"], "body", True)
    m.vin(number, "body")
    wr.truth(m)
    m.agency().not_(insured_name=bank.name).R("service_request", "created after review" if bad else "created", type="endorsement", insured=e.name)
    return m, raw


def cancellation(w, r, n, d):
    e = client(w, r)
    p = w.policy(r, e, w.ins(r)[0], None, d)
    end = shift(d, r.randrange(5, 40))
    m = Truth(w, f"{n:03d}-service-cancel.eml", "insured wants to end a policy", SVC, True, "ending a policy needs a signed request and a person")
    wr = insured_writer(e)
    wr.org = e.name
    raw = letter(r, w, wr, d, r.choice(["cancel", "Cancellation request", "ending my policy"]), [r.choice(["Please cancel policy {n} with {i} effective {d}.", "We sold the trucks, cancel {n} ({i}) on {d} and refund the rest.", "I want to stop my {i} policy {n} as of {d}."]).format(n=p.no, i=p.ins.name, d=r.choice([us, long_us])(end))])
    m.F("insured_name", e.name, "signature").F("policy_number", p.no, "body").F("cancellation_date", end, "body", True).F("carrier", p.ins.name, "body", True)
    wr.truth(m)
    m.agency().R("service_request", "created after review", type="cancellation", insured=e.name).no("cancel the policy")
    return m, raw


def bill(w, r, n, d):
    """A question about a bill, with the bill."""
    e = client(w, r)
    p = w.policy(r, e, w.ins(r)[0], None, d)
    part, old = round(r.uniform(400, 4000), 2), round(r.uniform(20, 300), 2)
    due, name = shift(d, 14), r.choice(["invoice.pdf", "bill.pdf", "Statement.pdf"])
    m = Truth(w, f"{n:03d}-service-bill.eml", "question about a bill of the insurer", SVC, "either", "a person should answer; routing it as billing is right too")
    f = "att:" + name
    q = Draw(producer="Billing 2")
    q.t(50, 50, p.ins.name, "Helvetica-Bold", 15)
    total = round(part + old, 2)
    L = [(r.choice(["Account", "Insured", "Bill to"]), e.name), (r.choice(["Policy", "Policy No."]), p.no), (r.choice(["Invoice date", "Billed"]), us(shift(d, -6))), (r.choice(["Due date", "Pay by"]), us(due)), ("Installment", f"${part:,.2f}"), (r.choice(["Past due", "Late fee and balance"]), f"${old:,.2f}"), (r.choice(["Amount due", "Total due", "Please pay"]), f"${total:,.2f}")]
    for i, (a, b) in enumerate(L):
        q.t(50, 90 + i * 18, a, z=9)
        q.r(420, 90 + i * 18, b, "Courier", 10)
    m.paper(name, "invoice", layout="bill (reportlab)").F("insured_name", e.name, f).F("policy_number", p.no, f).F("carrier", p.ins.name, f).F("amount", total, f).F("amount", part, f, True).F("amount", old, f, True).not_(effective_date=due)
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, r.choice(["bill", "billing question", "why this amount?"]), [r.choice(["I paid last month, why is there a past due amount on the attached bill?", "Can you explain this invoice? We thought we were on ten pay.", "This bill does not look right to us."])], [(name, q.done())])
    wr.truth(m)
    m.agency().R("service_request", "created", type="billing", insured=e.name)
    return m, raw


def accident(w, r, n, d):
    e, v, drv = client(w, r), fleet(r, 1, "T")[0], w.person(r)
    p = w.policy(r, e, w.ins(r)[0], ["auto_liability"], d)
    m = Truth(w, f"{n:03d}-service-accident.eml", "first notice of an accident with injuries", SVC, True, "a claim with injury: a person, now", ["general_instruction"])
    wr = insured_writer(e)
    wr.org = e.name
    raw = letter(r, w, wr, d, r.choice(["ACCIDENT", "claim to report", "URGENT wreck today"]), [r.choice(["{x} was in an accident on {d}, the other driver went to the hospital.", "Report of accident {d}: our driver {x} rear-ended a car, injuries on the other side."]).format(x=drv, d=us(d)), f"Truck {v['year']} {v['make']} VIN {v['vin']}, policy {p.no}", "Who do we call?"], extra=("X-Priority: 1",))
    m.F("insured_name", e.name, "signature").F("claim_date", d, "body").F("driver_name", drv, "body").F("policy_number", p.no, "body").vin(v["vin"], "body")
    wr.truth(m)
    m.agency().R("service_request", "created after review", type="claim", insured=e.name).no("loss_run_request", "admit fault")
    return m, raw


def several_wishes(w, r, n, d):
    """Certificate, new driver and loss runs in one mail."""
    e, h, drv = client(w, r), w.business(r), w.person(r)
    lic = w.licence(r, e.state)
    p = w.policy(r, e, w.ins(r)[0], ["auto_liability"], d)
    m = Truth(w, f"{n:03d}-service-wishes.eml", "three wishes of different kinds in one mail", SVC, True, "three wishes of different kinds", ["fleet.new_driver", "insurance.loss_run_request", "general_instruction"])
    wishes = [r.choice(["COI for {h}", "certificate of insurance to {h}"]).format(h=h.name), r.choice(["add driver {x}, license {l}", "new driver: {x} ({l})"]).format(x=drv, l=lic), r.choice(["loss runs from {i}, policy {n}", "order losses with {i} on {n}"]).format(i=p.ins.name, n=p.no)]
    r.shuffle(wishes)
    wr = insured_writer(e)
    wr.org = e.name
    raw = letter(r, w, wr, d, r.choice(["few things", "to do list", "3 items"]), [r.choice(["Couple of things when you have a minute:", "Need three things:"])] + [f"{i}. {x}" for i, x in enumerate(wishes, 1)])
    m.F("insured_name", e.name, "signature").F("certificate_holder", h.name, "body").F("driver_name", drv, "body").F("license_number", lic, "body").F("carrier", p.ins.name, "body").F("policy_number", p.no, "body")
    wr.truth(m)
    m.agency().not_(insured_name=h.name).R("task", "needs_review", note="must name all wishes").no("do one wish and report all done")
    return m, raw
