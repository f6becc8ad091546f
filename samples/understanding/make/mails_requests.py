"""Loss runs are asked for: by the insured, its bookkeeper, brokers, colleagues, with papers of all kinds or with none."""
from bodies import Writer, greet, header_block, insured_writer, letter, office_writer, quoted_history, tone
from mime import nested
from papers import DECK, OFFICE, certificate, certificate_truth, declare, id_card, permission, schedule
from style import Style
from truth import Truth
from values import *

LR = "insurance.loss_run_request"
ASK = {
    "en": ["Please order currently valued loss runs from {ins}.", "Can you get us the loss runs from {ins}? Five years if they have it.", "We need loss runs, {ins}, for the current term plus {y} prior.", "Could you request our loss history from {ins}?",
           "Would you please have {ins} send you the claims history on this account.", "Need loss runs ASAP - {ins}.", "Please pull {y} years of losses with {ins}.", "I need a claims experience report from {ins}, {y} yrs.", "Kindly request hard copy loss runs from {ins} on the attached.",
           "pls order loss runs - {ins}", "Our bank is asking for a loss history from {ins}, can you get that for us?", "Underwriting wants to see loss runs no older than 60 days. Can you order them from {ins}?", "Go ahead and put in the loss run request with {ins} please.",
           "Can someone on your end contact {ins} and ask for the losses on this policy?", "Time to get losses in hand. Please send the request to {ins} today.", "We have to show our claims record to a new customer, so please ask {ins} for a loss run.",
           "We would be grateful if you could arrange for {ins} to furnish a statement of claims for the past {y} years.", "Losses from {ins}, {y} years, please and thank you.", "Would like to see what {ins} has on us claim-wise. Can you send for it?",
           "Kindly obtain updated loss runs from {ins}; the ones on file are from last fall.", "Need you to reach out to {ins} for the loss reports.", "Next step is loss runs. {ins} is the carrier, please send the order.", "{ins} loss runs pls, {y} yr",
           "Can we get currently valued losses ({ins})? Market will not release terms without them.", "Could I trouble you to obtain the {y}-year loss experience from {ins}?", "Let's get the ball rolling, order the losses from {ins}.", "What do I need to do to get loss runs? The company is {ins}. If nothing, please just ask them for it."],
    "es": ["Por favor pidan a {ins} el historial de pérdidas (loss runs) de los últimos {y} años.", "¿Me pueden conseguir los loss runs de {ins}?", "Necesitamos el reporte de siniestralidad de {ins}, {y} años, lo antes posible.", "Les pido solicitar a {ins} nuestro historial de reclamos."],
    "fr": ["Pourriez-vous demander à {ins} notre relevé de sinistres des {y} dernières années ?", "Merci de commander l'historique des sinistres (loss runs) auprès de {ins}.", "Nous avons besoin du dossier de réclamations chez {ins}, {y} ans."],
    "de": ["Bitte fordern Sie bei {ins} die Schadenverläufe (loss runs) der letzten {y} Jahre an.", "Wir brauchen die Schadenhistorie von {ins}, bitte dort anfragen."]}
RENEW = {"en": ["Renewal {d}.", "Renewal is coming up {d}.", "Policy is up on {d}.", "X-date is {d}.", "The {d} renewal will be here before we know it.", "Starting early on the {d} renewal."], "es": ["Renovamos el {d}.", "La renovación es el {d}."], "fr": ["Notre renouvellement est le {d}."], "de": ["Die Verlängerung steht am {d} an."]}
NEWBIZ = {"en": ["We'd like you to quote our insurance and were told you need our claims history first.", "Looking to move our account to you.", "Not happy where we are, want to see what you can do.", "New to your agency, hope you can help."],
          "es": ["Queremos cambiar nuestro seguro a su agencia.", "Nos gustaría cotizar con ustedes."], "fr": ["Nous aimerions une soumission de votre part.", "Nous songeons à changer de courtier."], "de": ["Wir möchten mit unserer Versicherung zu Ihnen wechseln."]}
BROKER = ["Account is shopping, we have the BOR.", "Prospect of ours, they signed off on us getting the info.", "My insured is not happy and wants to move.", "New account for us, working it with you.", "We are marketing this one together."]
OWN = ("Would like to see what", "Our bank", "We have to show", "What do I need", "Could you request our")   # only an insured says so
ATTACHED = {"en": ["Dec page attached.", "Policy is attached.", "See attached.", "I attached what I have.", "Attaching the current declarations.", "Everything should be in the attached.", ""], "es": ["Adjunto la póliza.", "Va adjunta la carátula."], "fr": ["La police est jointe.", "Vous trouverez le document en pièce jointe."], "de": ["Die Police hängt an.", "Anbei die Unterlagen."]}
CHAT = ["How was the long weekend?", "Sorry for the late notice.", "It has been crazy here, two trucks down and a driver out.", "My wife usually handles this.", "Hope your week is going better than mine.", "Tried calling but got the machine.", "The old agent never answers the phone.", "No rush, but sooner is better than later."]
SUBJECT = {"en": ["loss runs", "Loss Run Request - {short}", "{short}: losses needed", "Loss history", "{short} / renewal", "Loss runs needed ASAP", "Request for loss runs", "{short} - {ins}", "claims history request", "Order losses please", "RE: {short}", "Loss Run Order", "{ins} loss runs", "quick request", "Renewal prep", "Hist. of claims for {short}", "(no subject)"],
           "es": ["Historial de pérdidas", "Solicitud de loss runs - {short}", "Reporte de siniestros"], "fr": ["Relevé de sinistres", "Historique des sinistres - {short}"], "de": ["Schadenverlauf {short}", "Anfrage Schadenhistorie"]}


def pick_lang(r):
    return r.choices(["en", "es", "fr", "de"], [74, 13, 9, 4])[0]


def names_of(ins):
    names = [i.short for i in ins]
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " & " + names[-1]


def by_insurer(ps):
    out = {}
    for p in ps:
        out.setdefault(p.ins.name, (p.ins, []))[1].append(p.no)
    return list(out.values())


def note(w, m, e, ps, late=False):
    """Keeps what replies and chases come back to."""
    if e not in w.clients:
        w.clients.append(e)
    if not late and m.t["review"] is False:
        for ins, numbers in by_insurer(ps):
            w.open.append(dict(e=e, ins=ins, policies=[p for p in ps if p.no in numbers], file=m.file))


def ask(r, lang, ps, e, renew, chat=True, attached=True, broker=False):
    """The body of a request: paragraphs in some order. -> (paragraphs, renewal date or None)."""
    ins = list({p.ins.name: p.ins for p in ps}.values())
    pool = [x for x in ASK[lang] if not (broker and x.startswith(OWN))]
    want = r.choice(pool).format(ins=names_of(ins), y=r.choice([3, 4, 5, 5, 5]))
    paras, date = [want], None
    if renew:
        date = min(p.exp for p in ps)
        f = {"en": r.choice([us, us_bare, long_us, abbr_us]), "es": spanish, "fr": french, "de": german}[lang]
        if r.random() < .7:
            paras.insert(r.choice([0, 1]), r.choice(RENEW[lang]).format(d=f(date)))
        else:
            date = None
    else:
        if not (broker and lang != "en"):
            paras.insert(0, r.choice(BROKER if broker else NEWBIZ[lang]))
    if attached:
        x = r.choice(ATTACHED[lang])
        paras += [x] if x else []
    if chat and lang == "en" and not broker and r.random() < .35:
        paras.insert(r.choice([0, len(paras)]), r.choice(CHAT))
    if r.random() < .5:
        paras = [" ".join(paras)]
    else:
        paras = [x for p in paras for x in (p, "")][:-1]
    return tone(r, paras, lang), date


def aside(w, r, m, ps, paras, lang):
    """Now and then a sentence on an insurer that is not to be asked: an earlier one, or one that only made an offer."""
    other = [i for i in w.insurers if i not in [p.ins for p in ps]]
    if lang != "en" or r.random() > .16:
        return
    i = r.choice(other)
    if r.random() < .5:
        paras.append(r.choice(["Before that we were with {i}, you already have those.", "Losses from {i} are not needed, that was years ago.", "{i} had us until 2021; skip them."]).format(i=i.name))
        m.F("carrier", i.name, "body (earlier insurer)", True).no("a request to " + i.name)
    else:
        q = f"Q{r.randrange(100000, 999999)}"
        paras.append(r.choice(["We have a quote {q} from {i} in hand, nothing bound.", "FYI {i} offered terms (quote {q}), we did not take it."]).format(i=i.name, q=q))
        m.not_(carrier=i.name, policy_number=q).no("a request to " + i.name)


def subject(r, lang, e, ps):
    return r.choice(SUBJECT[lang]).format(short=e.short, ins=ps[0].ins.short if ps else "insurance")


def some_policies(w, r, e, n=None, d=None):
    n = n or r.choices([1, 2, 3], [60, 30, 10])[0]
    lines = [["auto_liability"], ["auto_liability", "physical_damage"], ["auto_liability", "um_uim", "med_pay"], ["auto_liability", "physical_damage", "trailer_interchange"]]
    ps, insurers = [], w.ins(r, n)
    if r.random() < .25:
        insurers = insurers[:1] * n
    for i in range(n):
        kinds = None if n == 1 else r.choice(lines) if i == 0 else [["motor_truck_cargo"], ["general_liability"], ["umbrella"]][(i - 1) % 3] if r.random() < .8 else ["physical_damage"]
        ps.append(w.policy(r, e, insurers[i], kinds, d))
    return ps


def normal(w, r, n, d, who=None, deck=DECK, count=None, lang=None, new=None, slug="decs"):
    """A request with declarations pages: the usual case."""
    lang = lang or pick_lang(r)
    e = w.company(r, lang, person=r.random() < .18)
    new = r.random() < .45 if new is None else new
    ps = some_policies(w, r, e, count, d)
    who = who or r.choice(["insured", "insured", "insured", "bookkeeper", "broker", "wholesale", "colleague"])
    wr = {"insured": lambda: insured_writer(e), "bookkeeper": lambda: Writer(w.person(r, lang), "books@" + e.mail.split("@")[1] if "mailbox" not in e.mail else f"ledger{r.randrange(10, 99)}@mailbox.example", e.short, "Bookkeeper", e.phone, lang),
          "colleague": lambda: office_writer(w.agency, r, 1), "broker": lambda: office_writer(w.office(r), r), "wholesale": lambda: office_writer(w.wholesale, r, r.randrange(2))}[who]()
    if who in ("broker", "wholesale", "colleague"):
        wr.lang = lang
    wrong = deck is DECK and r.random() < .07 and [p for p in ps if p.veh]
    if wrong:
        wrong[0].veh[-1]["vin"] = wrong_vin(r, wrong[0].veh[-1]["vin"])
    m = Truth(w, f"{n:03d}-request-{slug}.eml", f"{who} asks for loss runs, {len(ps)} policies, {lang}", LR, "either" if wrong else False, "complete, but a VIN is wrong: saying so without stopping or stopping are both fair" if wrong else "papers readable, nothing contradicts")
    files, apart = [], []
    if deck is DECK and not wrong and len(ps) == 1 and len(ps[0].veh) > 1 and r.random() < .3:
        apart, ps[0].veh = ps[0].veh, []
    if len(ps) > 1 and (deck is not DECK or r.random() < .4):
        files.append(declare(m, r, w, ps, lang, deck))
    else:
        for p in ps:
            name, data = declare(m, r, w, [p], lang, deck, "binder" if lang == "en" and r.random() < .1 else "dec_page")
            while name in [x for x, _ in files]:
                new_name = "2 " + name
                m.t["attachments"][-1]["filename"] = new_name
                name = new_name
            files.append((name, data))
    if apart:
        files.append(schedule(m, r, w, e, apart))
    paras, date = ask(r, lang, ps, e, not new, broker=who in ("broker", "wholesale", "colleague"))
    if date:
        m.F("effective_date", date, "body (renewal)", True)
    if new and r.random() < .4:
        files.append(permission(r, e, w.agency.name, d, lang=lang))
        m.paper(files[-1][0], "loa").ent(e, "att:" + files[-1][0], "name dot").who(e.contact, None, e.phone, "att:" + files[-1][0])
    aside(w, r, m, ps, paras, lang)
    history = quoted_history(r, w, w.agency.who, shift(d, -r.randrange(1, 9)), r.choice([["Hi, who is your insurance with right now?", "We will need the declarations."], ["Send me whatever you have and I will take it from there.", f"{w.agency.who}", w.agency.name, w.agency.phone]]), "insurance", lang) if r.random() < .2 else ()
    raw = letter(r, w, wr, d, subject(r, lang, e, ps), greet(r, lang, w.agency.who.split()[0]) + paras, files, history, above=r.random() < .2)
    wr.truth(m)
    m.agency()
    if who in ("broker", "wholesale", "colleague"):
        m.not_(insured_name=wr.org)
    m.wants(e, "new_business" if new else "renewal", by_insurer(ps))
    note(w, m, e, ps)
    return m, raw


def office_paper(w, r, n, d):
    return normal(w, r, n, d, deck=OFFICE, count=r.choice([1, 2, 3]), slug="list")


def nested_mail(w, r, n, d):
    """The request hangs as message/rfc822 on a covering mail of a colleague or another agency."""
    lang = pick_lang(r)
    e = w.company(r, lang)
    ps = some_policies(w, r, e, None, d)
    m = Truth(w, f"{n:03d}-request-nested.eml", "the request is a message inside the message", LR, False, "inner mail and papers are clear")
    files = [declare(m, r, w, ps, lang, where="inner:att:")]
    inner_writer, outer = insured_writer(e), office_writer(w.office(r), r) if r.random() < .6 else Writer(*w.agency.people[1], w.agency.name, "", w.agency.phone)
    paras, date = ask(r, lang, ps, e, True)
    if date:
        m.F("effective_date", date, "inner body (renewal)", True)
    sub = subject(r, lang, e, ps)
    inner = letter(r, w, inner_writer, shift(d, -1), sub, greet(r, lang, outer.name.split()[0]) + paras, files, to=(outer.name, outer.mail))
    raw = letter(r, w, outer, d, r.choice(["FW: ", "Fwd: "]) + sub, [r.choice(["please take care of this", "fyi - can you handle?", "This one is yours I think.", "See the mail attached.", ""])], parts=[nested(inner)], sign=r.random() < .5, structure="text")
    inner_writer.truth(m, "inner signature")
    m.who(outer.name, outer.mail, None, "covering mail").agency()
    m.wants(e, "renewal", by_insurer(ps))
    note(w, m, e, ps)
    return m, raw


def forwarded(w, r, n, d):
    """Forwarded inside the text with a header block; an older part of the thread is about another client."""
    lang = pick_lang(r)
    e, other = w.company(r, lang), w.company(r)
    ps = some_policies(w, r, e, None, d)
    stray = w.policy(r, other, w.ins(r)[0], ["auto_liability"], d)
    m = Truth(w, f"{n:03d}-request-forwarded.eml", "forwarded inline; the oldest part is about another insured", LR, False, "the newest part and the paper agree")
    files = [declare(m, r, w, [p], lang) for p in ps[:1]]
    ps = ps[:1]
    o = w.office(r)
    fw, iw = office_writer(o, r), insured_writer(e)
    paras, date = ask(r, "en", ps, e, False, broker=True)
    inner = r.choice({"en": [["Hi, here is the policy you asked for.", "Let me know what else you need."], ["Policy attached as promised, call me with questions."]], "es": [["Aquí está la póliza que me pidió."]], "fr": [["Voici notre police, comme convenu."]], "de": [["Anbei unsere Police wie besprochen."]]}[lang])
    lines = header_block(r, f"{e.contact} <{e.mail}>", o.who, shift(d, -1), "policy", lang) + inner + [""] + iw.sign(r, True)
    lines += [""] + ["> " + x for x in [f"{o.people[1][0]} wrote:", f"Same thing for {other.name}, DOT {other.dot}: their policy", f"{stray.no} is on its way, will send separately."]]
    raw = letter(r, w, fw, d, r.choice(["Fwd: policy", "FW: our insurance papers", "Fwd: documents"]), paras, files, lines)
    iw.truth(m, "forwarded signature")
    fw.truth(m)
    m.agency().not_(insured_name=[other.name, o.name], policy_number=[stray.no], dot_number=[other.dot]).no("anything for " + other.name)
    m.wants(e, "new_business", by_insurer(ps))
    note(w, m, e, ps)
    return m, raw


def chase(w, r, n, d):
    """Asks again for what an earlier mail asked for; nothing attached."""
    if not w.open:
        return normal(w, r, n, d)
    first = r.choice(w.open)
    mine = [o for o in w.open if o["file"] == first["file"]]
    e = first["e"]
    m = Truth(w, f"{n:03d}-request-chase.eml", f"asks again for the loss runs of {first['file'][:3]}, nothing attached", LR, False, "belongs to the open requests; nothing new to create")
    wr = insured_writer(e)
    wr.lang = "en"
    what = ", ".join(f"{o['ins'].name} ({', '.join(p.no for p in o['policies'])})" for o in mine)
    paras = [r.choice(["Following up - any word on the loss runs for {e}?", "Second request for {e} losses.", "Where are we with losses for {e}? It has been a while.", "Still waiting on the loss runs of {e}."]).format(e=e.name), r.choice(["We are missing {}.", "Outstanding: {}.", "I need them from {}."]).format(what), r.choice(["Please push them.", "Can you ask again?", ""])]
    hist = quoted_history(r, w, e.contact, shift(d, -r.randrange(6, 15)), ["Please order the loss runs, dec attached."], "loss runs")
    raw = letter(r, w, wr, d, r.choice(["RE: loss runs", "2nd request", "Status?", "RE: RE: losses"]), [p for p in paras if p], history=hist)
    m.ent(e, "body", "name")
    for o in mine:
        m.F("carrier", o["ins"].name, "body")
        for p in o["policies"]:
            m.F("policy_number", p.no, "body")
    wr.truth(m)
    m.agency().wants(e, "renewal", [(o["ins"], [p.no for p in o["policies"]]) for o in mine], "merged").no("a second deal", "a second request for the same insurer")
    return m, raw


def in_body(w, r, n, d, table=None):
    """All facts in the mail: five years of insurers in a table, or one or two policies in words."""
    lang = r.choice(["en", "en", "en", "es"])
    e = w.company(r, lang)
    table = r.random() < .5 if table is None else table
    wr = insured_writer(e)
    m = Truth(w, f"{n:03d}-request-{'terms' if table else 'in-body'}.eml", "several terms and insurers in a table of the mail" if table else "insurer and policy in the words of the mail, nothing attached", LR, False, "all facts in the mail")
    dd = r.choice([us, us_bare, us_dash]) if lang == "en" else us
    idn = r.choice([f"{e.name} (USDOT {e.dot})", f"{e.name}, DOT# {e.dot}, MC {e.mc}", f"{e.name} - DOT {e.dot} - MC{e.mc}"])
    m.ent(e, "body", "name dot" + (" mc" if e.mc in idn else ""))
    if table:
        ins, eff, rows, ps = w.ins(r, r.choice([2, 3])), shift(d, -r.randrange(20, 340)), [], []
        for i in range(r.choice([3, 4, 5])):
            p = w.policy(r, e, ins[min(len(ins) - 1, i // 2)], ["auto_liability"], d, plus_year(eff, -i), units=0, drivers=0)
            p.exp = plus_year(p.eff)
            ps.append(p)
        head = r.choice([["Insurance company", "Policy", "From", "To"], ["Eff", "Exp", "Carrier", "Policy #"], ["Year", "Insurer", "Pol No", "Eff date", "Exp date"]])
        for p in ps:
            row = {"Insurance company": p.ins.name, "Carrier": p.ins.name, "Insurer": p.ins.name, "Policy": p.no, "Policy #": p.no, "Pol No": p.no, "From": dd(p.eff), "Eff": dd(p.eff), "Eff date": dd(p.eff), "To": dd(p.exp), "Exp": dd(p.exp), "Exp date": dd(p.exp), "Year": p.eff[:4]}
            rows.append([row[h] for h in head])
        paras = [r.choice(["For {} we need the loss runs of every auto liability company below:", "Loss runs please, all auto liability terms listed. Insured is {}.", "Here is the auto liability history of {}; order losses from each company."]).format(idn), ("table", head, rows), r.choice(["Thank you for getting these out today.", "They have to be currently valued.", "Call me with questions."])]
        for p in ps:
            m.F("carrier", p.ins.name, "body").F("policy_number", p.no, "body").F("effective_date", p.eff, "body").F("expiry_date", p.exp, "body")
        m.F("coverage_type", "auto_liability", "body", **{"as": "auto liability"})
    else:
        ps = some_policies(w, r, e, r.choice([1, 1, 2]), d)
        for p in ps:
            p.veh, p.drv = [], []
        st = Style(r, lang, w)
        paras = [{"en": r.choice(["We need loss runs for {}.", "Please request loss runs on {}.", "Loss history wanted for {}."]), "es": "Solicito el historial de pérdidas (loss runs) de {}."}[lang].format(idn)]
        for p in ps:
            c = p.covs[0]
            p.covs = [c]
            paras.append(r.choice(["{i}, policy {n}, {a} to {b}, {c}", "{c}: {i} / {n} / {a}-{b}", "{i} - {c} - pol# {n} ({a} - {b})"]).format(i=p.ins.name, n=p.no, a=dd(p.eff), b=dd(p.exp), c=st.words(c)))
            m.F("carrier", p.ins.name, "body").F("policy_number", p.no, "body").F("effective_date", p.eff, "body").F("expiry_date", p.exp, "body").F("coverage_type", c.kind, "body", c.kind in ("um_uim", "med_pay"), **{"as": st.words(c)})
    raw = letter(r, w, wr, d, subject(r, lang, e, ps), greet(r, lang, w.agency.who.split()[0]) + paras)
    wr.truth(m)
    m.agency().wants(e, "renewal", by_insurer(ps))
    note(w, m, e, ps)
    return m, raw


def pasted(w, r, n, d):
    """The page of a portal or of a policy pasted into the mail as lines and tables, no paper at all."""
    lang = r.choice(["en", "en", "en", "es", "fr"])
    e = w.company(r, lang)
    p = w.policy(r, e, w.ins(r)[0], None, d, units=r.choice([0, 1, 3]))
    st = Style(r, lang, w)
    st.place, st.tick = "label", False
    m = Truth(w, f"{n:03d}-request-pasted.eml", "facts of the policy pasted into the mail", LR, False, "all facts in the mail")
    how = r.choice(["lines", "table", "under"])
    F = [(a, " ".join(x for x in b if x)) for a, b in st.facts(p)]
    body = [("table", ["Field", "Value"], F)] if how == "table" else [f"{a}{st.colon or ':'} {b}" for a, b in F] if how == "lines" else [x for a, b in F for x in (a, "   " + b)]
    body += ["", ("table", *st.cov_table(p))]
    body += ["", ("table", *st.veh_table(p.veh))] if p.veh else []
    body += ["", ("table", *st.drv_table(p.drv))] if p.drv else []
    m.policy(p, "body", st)
    paras, date = ask(r, lang, [p], e, True, attached=False)
    if date:
        m.F("effective_date", date, "body (renewal)", True)
    wr = insured_writer(e) if r.random() < .6 else office_writer(w.office(r), r)
    if wr.org != e.short:
        m.not_(insured_name=wr.org)
    raw = letter(r, w, wr, d, subject(r, lang, e, [p]), greet(r, lang, w.agency.who.split()[0]) + paras + [""] + body)
    wr.truth(m)
    m.agency().wants(e, "renewal", by_insurer([p]))
    note(w, m, e, [p])
    return m, raw


def only_certificate(w, r, n, d):
    """All that is at hand is a certificate that another agency made for a customer."""
    e, holder, o = w.company(r), w.business(r), w.office(r)
    kinds = r.sample(["general_liability", "motor_truck_cargo", "umbrella", "physical_damage"], r.choice([1, 2]))
    ps = [w.policy(r, e, i, [k], d, units=0, drivers=0) for i, k in zip(w.ins(r, len(kinds) + 1), ["auto_liability"] + kinds)]
    m = Truth(w, f"{n:03d}-request-certificate.eml", "only a certificate of another agency is at hand; its holder is not the insured", LR, False, "insurers, numbers and terms stand in the certificate")
    data, layout, words = certificate(r, w, e, ps, holder, o, shift(d, -r.randrange(5, 80)), r.choice(["Evidence only.", "", "Certificate holder is additional insured if required by written contract."]))
    name = r.choice(["COI.pdf", "cert.pdf", f"Certificate {e.short}.pdf", "ins cert.pdf"])
    m.paper(name, "certificate", layout=layout)
    certificate_truth(m, "att:" + name, e, ps, words, holder)
    w.layouts[layout] = w.layouts.get(layout, 0) + 1
    m.ent(e, "body", "name dot")
    wr = insured_writer(e)
    paras = [r.choice(["We want to come over to you. All our agent would give us is this certificate.", "Don't have the policies, only this certificate from a job."]), r.choice(["Is that enough to ask all companies on it for loss runs? If so please do.", "Please order loss runs from every insurer on it."]), f"{e.name}, DOT {e.dot}"]
    raw = letter(r, w, wr, d, subject(r, "en", e, ps), greet(r, "en", w.agency.who.split()[0]) + paras, [(name, data)])
    wr.truth(m)
    m.agency().not_(insured_name=[o.name], contact_phone=[o.phone, o.fax]).wants(e, "new_business", by_insurer(ps)).no("a new certificate")
    note(w, m, e, ps)
    return m, raw


def cards(w, r, n, d):
    """The only papers are cards to be kept in the vehicles, one for each unit."""
    e = w.company(r)
    p = w.policy(r, e, w.ins(r)[0], ["auto_liability"], d, show={"naic"}, units=r.choice([1, 2, 3]), drivers=0)
    m = Truth(w, f"{n:03d}-request-cards.eml", "only insurance cards are at hand", LR, False, "insurer, policy and term stand on the cards")
    files = []
    for i, v in enumerate(p.veh, 1):
        name = f"{r.choice(['id card', 'card', 'insurance card'])} {i}.pdf"
        f = "att:" + name
        m.paper(name, "id_card", layout="card (reportlab)").ent(e, f, "name").F("carrier", p.ins.name, f).F("naic_number", p.ins.naic, f).F("policy_number", p.no, f).F("effective_date", p.eff, f).F("expiry_date", p.exp, f).vin(v["vin"], f)
        files.append((name, id_card(r, p, v)))
    wr = insured_writer(e)
    raw = letter(r, w, wr, d, subject(r, "en", e, [p]), greet(r, "en", w.agency.who.split()[0]) + [r.choice(ASK["en"]).format(ins=p.ins.short, y=5), r.choice(["All I have is the cards from the trucks.", "Cards attached, can't find the policy."])], files)
    wr.truth(m)
    m.agency().wants(e, "renewal", by_insurer([p]))
    note(w, m, e, [p])
    return m, raw
