"""New leads: web forms, questionnaires, submissions of brokers, a few words from a telephone, a voice message."""
import lossruns
from bodies import Writer, greet, insured_writer, letter, office_writer
from mime import mail, multi, text
from produce import Draw, docx, docx_table, esc, latin, te, typ, weasy, xlsx
from style import Style
from truth import Truth
from values import *

LEAD = "insurance.new_lead"
WISH = {"auto_liability": ["Auto Liability", "primary auto", "auto liability", "liability auto"], "motor_truck_cargo": ["Cargo", "motor truck cargo", "cargo"], "physical_damage": ["Physical Damage", "phys dam", "comp & collision"],
        "general_liability": ["General Liability", "GL", "general liability"], "non_trucking_liability": ["Non-Trucking", "bobtail"], "trailer_interchange": ["Trailer Interchange"], "workers_compensation": ["Workers Comp"]}
FORM = {"name": ["Company Name", "Legal business name", "company", "Business", "DBA / Company", "Name of company", "Motor carrier name"], "contact": ["Contact", "Your name", "Full Name", "contact_name", "Person to contact", "First and last name"],
        "phone": ["Phone", "Best phone", "Telephone", "Mobile", "phone_number", "Call me at"], "mail": ["Email", "E-mail address", "your-email", "Email address"], "addr": ["Address", "Garaging address", "Where are you based?", "Location", "business_address"],
        "dot": ["DOT #", "USDOT", "US DOT Number", "dot_number", "What is your DOT number?"], "mc": ["MC #", "MC Number", "mc", "Docket"], "cov": ["Coverage needed", "Coverages", "I am interested in", "Lines of business", "What do you need?", "Insurance type(s)"],
        "start": ["Start date", "Effective date needed", "When do you need it?", "Requested effective", "Needed by"], "units": ["Power units", "How many trucks", "Trucks"], "drivers": ["Drivers", "Number of drivers"], "years": ["Years in business"], "miles": ["Radius", "Radius of operation"],
        "current": ["Current carrier", "Who insures you now?", "Present insurance company"], "note": ["Comments", "Anything else", "message", "Notes"]}
NOTES = ["we haul containers out of the port", "one at fault last year, glass only otherwise", "Referred by a friend who insures with you", "can you beat 1,150 a month", "no loss runs available yet, new venture", "Paying too much now", "please call after 4", "need a quote fast, down payment matters", "Broker wants cert by Friday", "2 years no claims", "just got my authority", "renewal came back 40% higher"]
QUOTE = ["Can you work up numbers on this one?", "Interested in getting pricing from your office.", "How much for full coverage on our rigs?", "Please see if any of your markets will write this.", "Please quote.", "We would like a quote for our operation.", "What would it cost to insure us?", "New submission for your review, please quote.", "Looking for trucking insurance, can you help?", "Need a proposal."]


def makers(r, n):
    deck = [web_form, web_form, questionnaire, submission, short_words, with_losses, form_fields, spanish]
    rare = [voice, nameless]
    out = []
    while len(out) < n:
        out += r.sample(deck, 4) + [r.choice(rare + [submission])]
    return out[:n]


def wishes(m, r, where, kinds=None, optional=False):
    kinds = kinds or ["auto_liability"] + r.sample([k for k in WISH if k != "auto_liability"], r.choice([1, 2, 2]))
    said = [r.choice(WISH[k]) for k in kinds]
    for k, s in zip(kinds, said):
        m.F("coverage_type", k, where, optional, **{"as": s})
    return said


def web_form(w, r, n, d):
    """Key and value of a web form, as text or as HTML, by the agency's own form or a form service."""
    e = w.company(r, person=r.random() < .3)
    m = Truth(w, f"{n:03d}-lead-form.eml", "web form", LEAD, False, "complete form")
    L = {k: r.choice(v) for k, v in FORM.items()}
    said = wishes(m, r, "body")
    start = shift(d, r.randrange(4, 70))
    f = r.choice([us, us_bare, iso, long_us])
    F = [("name", e.name), ("contact", e.contact), ("phone", e.phone), ("mail", e.mail), ("addr", e.addr), ("dot", e.dot), ("mc", e.mc), ("cov", r.choice([", ", "; ", " / ", " + "]).join(said)), ("start", f(start))]
    m.ent(e, "body").who(e.contact, e.mail, e.phone, "body", False).F("effective_date", start, "body")
    if r.random() < .5:
        k = r.randrange(1, 12)
        F.append(("drivers", str(k)))
        m.F("driver_count", k, "body", True)
    F += [(k, v) for k, v in (("units", str(r.randrange(1, 20))), ("years", str(r.randrange(1, 30))), ("miles", r.choice(["local", "500 mi", "48 states"])), ("note", r.choice(NOTES))) if r.random() < .6]
    if r.random() < .4:
        ins = w.ins(r)[0]
        F.append(("current", ins.name))
        m.F("carrier", ins.name, "body", True)
    head, tail = F[:1], F[1:]
    r.shuffle(tail)
    F = head + tail if r.random() < .6 else tail + head
    own = r.random() < .5
    frm = (r.choice([f"{w.agency.name} Website", "Quote Form", "WordPress"]), f"noreply@{w.agency.domain}") if own else (r.choice(["FormBee", "JotDesk", "Lead Pipe", "SiteForms"]), "notify@" + r.choice(["formbee", "jotdesk", "leadpipe", "siteforms"]) + ".example")
    how = r.choice(["colon", "under", "html", "htmlunder", "eq", "list"])
    if how in ("html", "htmlunder"):
        cell = (lambda a, b: f"<tr><td style='background:#f3f3f3'><b>{esc(a)}</b></td><td>{esc(b)}</td></tr>") if how == "html" else (lambda a, b: f"<tr><td style='color:#999'>{esc(a)}</td></tr><tr><td style='padding-left:12px'>{esc(b)}</td></tr>")
        part = text(r, "<html><body><h3>New submission</h3><table>\n" + "\n".join(cell(L[k], v) for k, v in F) + "\n</table><p><small>Sent by the form on your site. IP 192.0.2.44</small></p></body></html>", "html")
    else:
        line = {"colon": "{}: {}", "under": "{}\n{}\n", "eq": "{} = {}", "list": "* {} - {}"}[how]
        part = text(r, r.choice(["New quote request", "A visitor filled in your form:", "--- form data ---"]) + "\n\n" + "\n".join(line.format(L[k], v) for k, v in F) + "\n")
    m.agency().not_(contact_email=frm[1])
    m.lead(e)
    a = w.agency
    raw = mail(r, frm, (a.name, a.box), r.choice(["New quote request", "Website lead", f"New submission #{r.randrange(100, 9999)}", "Insurance quote form", f"Lead: {e.short}"]), d, part, (f"Reply-To: {e.mail}",) if r.random() < .5 else (), own=a.domain)
    return m, raw


def application(w, r, m, e, d, where):
    """Questions and answers of an application. -> (pairs, vehicles, drivers, said, start)."""
    st = Style(r, "en", w)
    start = shift(d, r.randrange(5, 60))
    said = wishes(m, r, where)
    veh = fleet(r, r.choice([1, 2, 3, 5]), r.choice(["TR", "T", "LT"]))
    drv = [(w.person(r), w.licence(r, e.state)) for _ in range(r.choice([1, 2, 3]))]
    ins = w.ins(r)[0]
    q = [(r.choice(["Applicant", "Name of applicant", "Legal name", "Business name"]), e.name), (r.choice(FORM["addr"]), e.addr), (r.choice(FORM["dot"]), e.dot), (r.choice(FORM["mc"]), e.mc), (r.choice(FORM["contact"]), e.contact),
         (r.choice(FORM["phone"]), e.phone), (r.choice(FORM["mail"]), e.mail), (r.choice(FORM["start"]), st.d(start)), (r.choice(FORM["current"]), ins.name)]
    m.ent(e, where).who(e.contact, e.mail, e.phone, where, False).F("effective_date", start, where).F("carrier", ins.name, where, True)
    for v in veh:
        m.vin(v["vin"], where)
    for a, b in drv:
        m.F("driver_name", a, where).F("license_number", b, where, True)
    return st, q, veh, drv, said


def questionnaire(w, r, n, d):
    """An application filled in as DOCX, XLSX or PDF, from the prospect or another agency."""
    e = w.company(r)
    m = Truth(w, f"{n:03d}-lead-application.eml", "application with units and drivers", LEAD, False, "complete submission", ["insurance.loss_run_request"])
    how = r.choice(["docx", "xlsx", "typst", "weasyprint", "reportlab"])
    name = r.choice(["application", "Trucking app", f"{e.short} app", "questionnaire", "New venture submission"]) + "." + {"docx": "docx", "xlsx": "xlsx"}.get(how, "pdf")
    f = "att:" + name
    st, q, veh, drv, said = application(w, r, m, e, d, f)
    off = [x for x in ["Umbrella", "Pollution", "Occupational Accident", "Towing"] if r.random() < .6]
    vt, dt_ = st.veh_table(veh), st.drv_table(drv)
    if how == "docx":
        def build(x):
            x.add_heading(r.choice(["Application", "Truckers questionnaire", "Submission sheet"]), 1)
            if st.together:
                docx_table(x, q)
            else:
                for i, (a, b) in enumerate(q, 1):
                    x.add_paragraph(f"{i}. {a}: {b}")
            x.add_paragraph("Coverage: " + "  ".join(f"☒ {s}" for s in said) + "  " + "  ".join(f"☐ {s}" for s in off))
            docx_table(x, [vt[0]] + vt[1])
            x.add_paragraph("")
            docx_table(x, [dt_[0]] + dt_[1])
        data = docx(build)
    elif how == "xlsx":
        data = xlsx({"App": [("Application",), ()] + q + [("Coverage", ", ".join(said))], "Units": [vt[0]] + vt[1], "Drivers": [dt_[0]] + dt_[1]})
    elif how == "typst":
        grid = lambda t: f"#table(columns: {len(t[0])}, stroke: 0.4pt, " + ", ".join(f"[{te(c)}]" for row in [t[0]] + t[1] for c in row) + ")\n"
        data = typ('#set page("us-letter", margin: 2cm)\n#set text(10pt, font: "New Computer Modern")\n= Application\n' + "".join(f"{te(a)}: #underline[{te(b)}] \\\n" for a, b in q) + "\nCoverage: " + " ".join(f"[{'X'}] {te(s)}" .replace("[", "\\[").replace("]", "\\]") for s in said) + " " + " ".join(f"\\[ \\] {te(s)}" for s in off) + "\n\n" + grid(vt) + "\n" + grid(dt_))
    elif how == "weasyprint":
        tab = lambda t: "<table border=1 cellspacing=0>" + "".join("<tr>" + "".join(f"<td>{esc(c)}</td>" for c in row) + "</tr>" for row in [t[0]] + t[1]) + "</table><br>"
        data = weasy("<h2>Application for insurance</h2>" + "".join(f"<div class=q><small>{esc(a)}</small><br>{esc(b)}</div>" for a, b in q) + f"<p>Coverages requested: {esc(', '.join(said))}</p>" + tab(vt) + tab(dt_), "body{font-size:9pt} .q{display:inline-block;width:46%;margin:3pt;border-bottom:.5pt solid #888} td{padding:3pt}")
    else:
        p = Draw(producer="AppWriter")
        p.m(306, 44, "APPLICATION", "Helvetica-Bold", 13)
        y = 70
        for a, b in q + [("Coverages", ", ".join(said))]:
            p.t(50, y, a, z=8)
            p.t(230, y, b, "Courier", 9)
            p.line(228, y + 3, 560, y + 3)
            y += 20
        for t in (vt, dt_):
            y += 10
            for row in [t[0]] + t[1]:
                for i, c in enumerate(row):
                    p.t(50 + i * 510 / len(row), y, c, z=7.5)
                y += 13
        data = p.done()
    m.paper(name, "application", layout=f"application {how}")
    w.layouts[f"application {how}"] = w.layouts.get(f"application {how}", 0) + 1
    wr = insured_writer(e) if r.random() < .5 else office_writer(w.office(r), r)
    if wr.org != e.short:
        m.not_(insured_name=wr.org)
    raw = letter(r, w, wr, d, r.choice(["Submission - {}", "Application {}", "quote please", "New business: {}"]).format(e.short), greet(r, "en", w.agency.who.split()[0]) + [r.choice(QUOTE), r.choice(["Application attached.", "App is attached.", ""])], [(name, data)])
    wr.truth(m)
    m.agency()
    m.lead(e)
    return m, raw


def submission(w, r, n, d):
    """A wish for a quote in words, all facts in the mail."""
    e = w.company(r, person=r.random() < .2)
    m = Truth(w, f"{n:03d}-lead-words.eml", "wish for a quote in words", LEAD, False, "name, number and wish are there")
    wr = insured_writer(e)
    wr.org = e.name
    said = wishes(m, r, "body")
    start = shift(d, r.randrange(5, 60))
    f = r.choice([us, long_us, abbr_us])
    m.ent(e, "body", "name dot").F("effective_date", start, "body")
    paras = [r.choice(QUOTE), r.choice(["{e} runs {k} trucks out of {c}, DOT {n}.", "We are {e} (DOT {n}), {k} power units, based in {c}.", "Company: {e}. DOT {n}. {k} trucks, {c}."]).format(e=e.name, n=e.dot, k=r.randrange(1, 15), c=e.city.split(",")[0]),
             r.choice(["We need {s} starting {d}.", "Coverage: {s}; start {d}.", "Looking for {s} to begin on {d}."]).format(s=", ".join(said), d=f(start)), r.choice(NOTES)]
    raw = letter(r, w, wr, d, r.choice(["quote", "Insurance quote needed", "truck insurance", "New business"]), greet(r, "en", w.agency.who.split()[0]) + paras, sign="phone")
    m.who(e.contact, e.mail, e.phone, "signature", False)
    m.agency()
    m.lead(e)
    return m, raw


def spanish(w, r, n, d):
    lang = r.choice(["es", "es", "fr"])
    e = w.company(r, lang)
    m = Truth(w, f"{n:03d}-lead-{lang}.eml", f"wish for a quote, {lang}", LEAD, False, "clear, in another language")
    wr = insured_writer(e)
    start = shift(d, r.randrange(10, 60))
    said = {"es": ("responsabilidad civil", "carga"), "fr": ("responsabilité civile", "cargaison")}[lang]
    m.ent(e, "body", "name dot").F("effective_date", start, "body").F("coverage_type", "auto_liability", "body", **{"as": said[0]}).F("coverage_type", "motor_truck_cargo", "body", **{"as": said[1]})
    t = {"es": "Quisiera cotizar el seguro de mi empresa, {e}, número DOT {n}. Necesitamos {a} y {b} a partir del {d}.", "fr": "Nous cherchons une soumission d'assurance pour {e}, numéro DOT {n} : {a} et {b}, à compter du {d}."}[lang].format(e=e.name, n=e.dot, a=said[0], b=said[1], d=(spanish_date if lang == "es" else french)(start))
    raw = letter(r, w, wr, d, {"es": "Cotización de seguro", "fr": "Demande de soumission"}[lang], greet(r, lang, w.agency.who.split()[0]) + [t], sign="phone")
    m.who(e.contact, e.mail, e.phone, "signature", False)
    m.agency()
    m.lead(e)
    return m, raw


def spanish_date(s):
    x = day(s)
    return f"{x.day} de {ES[x.month - 1]} de {x.year}"


def short_words(w, r, n, d):
    """A few words from a telephone, facts run together."""
    e = w.company(r)
    name = e.short
    m = Truth(w, f"{n:03d}-lead-short.eml", "a few words from a telephone", LEAD, "either", "name, number and wish are there; a stop for the missing rest is fair")
    box = f"{name.split()[0].lower()}{r.randrange(10, 99)}@mailbox.example"
    tel = "".join(c for c in e.phone if c.isdigit())[-10:]
    m.F("insured_name", name, "body").F("dot_number", e.dot, "body").who(None, box, e.phone, "body", False).F("coverage_type", "auto_liability", "body", True, **{"as": "liab"}).F("coverage_type", "motor_truck_cargo", "body", True, **{"as": "cargo"})
    t = r.choice(["hi need truck ins {e} dot {n} liab and cargo call {p}", "quote pls {e} dot#{n} {p} liab/cargo new authority", "{p} {e} need liab n cargo quote my dot is {n}"]).format(e=name.lower(), n=e.dot, p=tel)
    a = w.agency
    raw = mail(r, ("", box), ("", a.box), r.choice(["quote", "insurance", "", "truck"]), d, text(r, t + "\n"), own=a.domain)
    m.agency().R("entity", "created", name=name, dot=e.dot).R("deal", "created", insured=name, pipeline="new_business")
    return m, raw


def with_losses(w, r, n, d):
    """A broker's submission with loss runs at hand: nothing to order, a quote is wanted."""
    e, o = w.company(r), w.office(r)
    p = w.policy(r, e, w.ins(r)[0], ["auto_liability"], d)
    m = Truth(w, f"{n:03d}-lead-with-losses.eml", "broker's submission with loss runs: a quote is wanted", LEAD, False, "asks for a quote; the loss runs are there", ["insurance.loss_run_reply"])
    terms = lossruns.terms_of(w, r, p, shift(d, -9), r.choice([1, 2, 3]))
    file = lossruns.make(m, r, w, p.ins, e, w.claims(r, terms, r.choice([1, 3, 5])), terms)
    m.ent(e, "body", "name dot").F("coverage_type", "auto_liability", "body", **{"as": "auto liability"})
    start = p.exp
    m.F("effective_date", start, "body (wanted)")
    wr = office_writer(o, r)
    t = r.choice(["Please quote auto liability for {e}, DOT {n}, eff {d}. Losses are attached, nothing to order.", "New opportunity: {e} (USDOT {n}), auto liability effective {d}. Loss runs enclosed so you can go straight to market for a quote."]).format(e=e.name, n=e.dot, d=us(start))
    raw = letter(r, w, wr, d, f"{e.short} - quote request", greet(r, "en", w.agency.who.split()[0]) + [t], [file])
    wr.truth(m)
    m.agency().not_(insured_name=o.name)
    m.lead(e)
    return m, raw


def form_fields(w, r, n, d):
    """An application whose answers stand in form fields; some boxes ticked, some not."""
    e = w.company(r)
    m = Truth(w, f"{n:03d}-lead-fields.eml", "application with values in form fields only", LEAD, "either", "False if form fields are read; an honest stop otherwise")
    name = r.choice(["application filled.pdf", "app.pdf", "Quote sheet.pdf"])
    f = f"att:{name} (form fields)"
    start = shift(d, r.randrange(5, 50))
    q = Draw(producer="Forms")
    q.t(50, 46, r.choice(["Quote application", "Commercial trucking application", "New account form"]), "Helvetica-Bold", 14)
    y = 70
    for i, (k, v) in enumerate([("name", e.name), ("addr", e.addr), ("contact", e.contact), ("phone", e.phone), ("mail", e.mail), ("dot", e.dot), ("mc", e.mc), ("start", us(start))]):
        q.t(50, y + 12, r.choice(FORM[k]), z=9)
        q.c.acroForm.textfield(name=f"{k}{i}", x=220, y=q.H - y - 18, width=330, height=17, value=latin(v), fontSize=9, borderWidth=1)
        y += 26
    for a, on in (("Auto Liability", True), ("Cargo", True), ("Umbrella", False), ("Workers Comp", False)):
        q.c.acroForm.checkbox(name="box_" + a, x=60, y=q.H - y - 14, size=12, checked=on)
        q.t(80, y + 11, a, z=9)
        y += 19
    m.paper(name, "application", "form", layout="application form fields").ent(e, f).who(e.contact, e.mail, e.phone, f, False).F("effective_date", start, f)
    m.F("coverage_type", "auto_liability", f, True, **{"as": "Auto Liability"}).F("coverage_type", "motor_truck_cargo", f, True, **{"as": "Cargo"})
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, r.choice(["quote application", "filled out your form"]), [r.choice(QUOTE)], [(name, q.done())])
    m.agency()
    m.lead(e)
    return m, raw


def voice(w, r, n, d):
    """The transcript of a voice message."""
    who = w.person(r)
    tel = w.phone(r)
    digits = "".join(c for c in tel if c.isdigit())[-10:]
    m = Truth(w, f"{n:03d}-lead-voice.eml", "transcript of a voice message", LEAD, True, "heard numbers must be checked with the caller").F("contact_name", who, "body", True).F("contact_phone", tel, "body", True)
    t = f"Voice message from {digits[:3]}-{digits[3:6]}-{digits[6:]}, {r.randrange(20, 59)} seconds.\n\n\"hey this is {who} uh I need a quote on my {r.choice(['dump truck', 'semi', 'hotshot rig', 'two box trucks'])} um dot number is {r.choice(['three one', 'nine four'])} something I do not have it on me call me back thanks\"\n"
    a = w.agency
    raw = mail(r, ("Voicemail", f"vm@{a.domain}"), ("", a.box), f"Voice message from {digits}", d, multi(r, "mixed", text(r, t)), own=a.domain)
    m.agency().R("task", "needs_review").no("an entity with a guessed DOT number")
    return m, raw


def nameless(w, r, n, d):
    """A person and a wish, no company."""
    who = w.person(r)
    box = f"{who.split()[0].lower()}{r.randrange(10, 99)}@mailbox.example"
    m = Truth(w, f"{n:03d}-lead-nameless.eml", "no company name, only a person and a wish", LEAD, True, "no company: ask back").who(who, box, None, "signature", False).F("coverage_type", "auto_liability", "body", True, **{"as": "auto"})
    t = r.choice(["Thinking about buying a truck and starting out on my own. No LLC or DOT yet. What does auto insurance cost for a new guy?", "I drive for somebody else now and want my own authority this summer. Can you give me a ballpark quote on auto liability before I file the papers?"])
    raw = letter(r, w, Writer(who, box), d, r.choice(["starting out", "question on price", "new authority"]), greet(r, "en", w.agency.who.split()[0]) + [t])
    m.agency().R("task", "needs_review").no(f"an entity named {who}")
    return m, raw
