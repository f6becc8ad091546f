"""Which layout a declarations page gets, and the other papers about insurance: certificates, binders, cards, letters, schedules."""
import dec_draw
import dec_html
import dec_office
import dec_typst
from produce import Draw, docx, docx_table, esc, rotate, sheet, weasy, xlsx
from style import Style
from values import *

DECK = [("pdf", dec_html.paper)] * 6 + [("pdf", dec_typst.paper)] * 5 + [("pdf", dec_draw.mono), ("pdf", dec_draw.mono), ("pdf", dec_draw.boxed), ("pdf", dec_draw.boxed), ("pdf", dec_draw.blocks), ("pdf", dec_draw.blocks), ("pdf", dec_draw.far),
        ("pdf", dec_draw.behind), ("pdf", dec_draw.wrapped), ("pdf", dec_draw.wrapped), ("pdf", dec_draw.flowing), ("pdf", dec_draw.flowing), ("pdf", dec_typst.narrative), ("docx", dec_office.word), ("docx", dec_office.word)]
OFFICE = [("xlsx", dec_office.workbook), ("xlsx", dec_office.workbook), ("csv", dec_office.csv_file), ("html", dec_html.html_file), ("txt", dec_html.text_file)]
NAMES = ["{no}", "dec page {short}", "{short} - declarations", "policy", "DEC {no}", "Declarations", "scan0{n}", "doc{n}{n}", "{ins} policy {year}", "{short} {year}-{next}", "Policy_{no}", "attachment", "Current Policy", "CommercialAuto_{n}", "printed policy"]


def file_name(r, ps, ext, names=NAMES):
    p = ps[0]
    n = r.choice(names).format(no=p.no.replace("/", "-"), short=p.ent.short, ins=p.ins.short, year=p.eff[:4], next=int(p.eff[2:4]) + 1, n=r.randrange(100, 999))
    return n.replace("/", "-") + "." + (ext.upper() if r.random() < .08 else ext)


def declare(m, r, w, ps, lang="en", deck=DECK, kind="dec_page", where="att:", **kw):
    """A paper on one or several policies; the truth goes into m. -> (file name, bytes)."""
    st = Style(r, lang, w)
    for p in ps[1:]:
        p.show = set(ps[0].show)
    if len({p.ins.name for p in ps}) > 1:
        st.place = "label"
    if kind == "binder":
        st.labels["title"] = r.choice(["Insurance Binder", "Binder", "BINDER OF INSURANCE", "Temporary Insurance Contract"])
        st.extras.append("binder")
    ext, layout = w.deal(deck) if deck is DECK else r.choice(deck)
    if len(ps) > 1 and deck is DECK and r.random() < .45:
        ext, layout = "pdf", dec_html.summary
    if layout in (dec_draw.mono, dec_draw.wrapped, dec_draw.behind) and any(ord(c) > 255 for c in str([x.ent.__dict__ for x in ps])):
        layout = dec_html.paper
    data = layout(st, ps)
    if ext == "pdf" and r.random() < .04:
        data = rotate(data, r.choice([90, 270]))
        st.layout += ", turned page"
    name = file_name(r, ps, ext)
    m.paper(name, kind, kw.pop("readable", True), layout=st.layout, **kw)
    for p in ps:
        m.policy(p, where + name, st)
    w.layouts[st.layout] = w.layouts.get(st.layout, 0) + 1
    return name, data


def schedule(m, r, w, e, vehicles):
    """A list of vehicles as a paper of its own. -> (file name, bytes)."""
    st, how = Style(r, "en", w), r.choice(["xlsx", "csv", "pdf", "pdf", "docx"])
    head, rows = st.veh_table(vehicles)
    name = r.choice(["schedule", "equipment list", "vehicles", "Unit list", f"{e.short} trucks"]) + "." + how
    title = st.lab("hvehicles")
    if how == "xlsx":
        data = xlsx({"Sheet1": [(e.name,), (), head] + rows})
    elif how == "csv":
        data = sheet([head] + rows, r.choice(",;\t"), r.choice(["utf-8", "cp1252"]))
    elif how == "docx":
        data = docx(lambda x: (x.add_heading(title, 2), x.add_paragraph(e.name), docx_table(x, [head] + rows)))
    else:
        data = weasy(f"<h2>{esc(title)}</h2><p>{esc(e.name)}</p>" + dec_html.table(st, head, rows), dec_html.BASE.format(page="letter", margin="2cm", boxes="", size=st.size, tone=st.tone))
    m.paper(name, "vehicle_schedule", layout=f"schedule {how}")
    for v in vehicles:
        m.vin(v["vin"], "att:" + name)
    w.layouts[f"schedule {how}"] = w.layouts.get(f"schedule {how}", 0) + 1
    return name, data


def scan_lines(p, st):
    """What is drawn into the picture of a scanned declarations page."""
    y, out = 330, [(60, 60, p.ins.name.upper(), 28), (60, 100, p.ins.home, 15), (60, 160, st.lab("title").upper(), 20)]
    for i, (a, b) in enumerate([(st.lab("policy"), p.no), (st.lab("term"), f"{st.d(p.eff)}{st.join}{st.d(p.exp)}"), (st.lab("insured"), p.ent.name), (st.lab("address"), p.ent.addr), (st.lab("dot"), p.ent.dot)]):
        out += [(60, 220 + i * 56, a, 13), (60, 238 + i * 56, b, 22)]
    y = 540
    for c in p.covs:
        out.append((60, y, f"{st.words(c)}   {st.limit(c)}" + (f"   {st.lab('ded')} {st.m(c.ded)}" if c.ded else ""), 19))
        y += 34
    for v in p.veh:
        out.append((60, y + 16, f"{v['year']} {v['make']} {v['model']}  {v['vin']}", 19))
        y += 32
    p.show = {"addr", "dot"}
    p.drv = []
    return out


CERT_TITLE = ["EVIDENCE OF INSURANCE", "CERTIFICATE OF COVERAGE", "CERTIFICATE OF LIABILITY COVERAGE", "Certificate of Insurance (Motor Carrier)", "PROOF OF COVERAGE"]
CERT_COVER = {"auto_liability": (["AUTOMOBILE LIABILITY", "Commercial Auto Liability", "AUTO LIABILITY"], ["Any auto", "Owned autos only", "Scheduled autos", "Hired autos only", "Non-owned autos"], ["Combined single limit", "CSL (ea. accident)"]),
              "general_liability": (["COMMERCIAL GENERAL LIABILITY", "General Liability"], ["Claims-made", "Occurrence", "Limit applies per project"], ["Each occurrence", "EACH OCC"]),
              "motor_truck_cargo": (["MOTOR TRUCK CARGO", "Cargo"], ["Broad form", "Reefer breakdown", "Named perils"], ["Any one vehicle", "Limit per truck"]),
              "umbrella": (["UMBRELLA / EXCESS LIABILITY", "Umbrella Liability"], ["Occurrence", "Claims-made"], ["Each occurrence"]),
              "workers_compensation": (["WORKERS COMPENSATION", "Workers Comp & Employers Liability"], ["Statutory limits"], ["E.L. each accident"]),
              "physical_damage": (["PHYSICAL DAMAGE", "Auto Physical Damage"], ["Comprehensive", "Collision"], ["Stated amount"])}


def certificate(r, w, e, ps, holder, agent, issued, desc=""):
    """A certificate of our own wording: insurers by letter or by name in the row, ticked and unticked boxes, two dates each.
    -> (bytes, layout, {kind: words}). One coverage for each policy; aggregates are printed beside some limits."""
    how = r.choice(["letters", "letters", "names"])
    insurers = list(dict.fromkeys(p.ins for p in ps))
    d = r.choice([us, us, us_two, us_dash, abbr_us])
    said, make = {}, r.choice(["reportlab", "weasyprint"])
    rows = []
    for p in ps:
        c = p.covs[0]
        heads, boxes, labels = CERT_COVER[c.kind]
        said[c.kind] = r.choice(heads)
        k = r.randrange(len(boxes))
        lims = [(r.choice(labels), f"{c.limit:,}")] + ([("Aggregate", f"{c.second:,}")] if c.second else []) + ([("Deductible", f"{c.ded:,}")] if c.ded else [])
        rows.append(("ABCDEF"[insurers.index(p.ins)], said[c.kind], [(b, i == k or r.random() < .25) for i, b in enumerate(boxes)], p, lims))
    title = r.choice(CERT_TITLE)
    hl = [holder.name, holder.street, holder.city] if holder else []
    L = dict(agent=r.choice(["PRODUCER", "AGENCY", "Issued by"]), insured=r.choice(["INSURED", "NAMED INSURED", "Covered party"]), companies=r.choice(["INSURERS AFFORDING COVERAGE", "COMPANIES", "Insurer(s)"]),
             policy=r.choice(["POLICY NUMBER", "Policy no."]), eff=r.choice(["POLICY EFF", "Effective"]), exp=r.choice(["POLICY EXP", "Expires"]), holder=r.choice(["CERTIFICATE HOLDER", "Holder"]))
    if make == "reportlab":
        q = Draw(producer="CertMaker")
        q.m(306, 44, title, "Helvetica-Bold", 13)
        q.r(584, 44, d(issued), z=7)
        q.box(24, 56, 282, 74)
        q.t(28, 65, L["agent"], z=6)
        for i, s in enumerate([agent.name, agent.street, agent.city, f"Phone {agent.phone}   Fax {agent.fax}"]):
            q.t(34, 78 + i * 12, s, z=8)
        q.box(24, 130, 282, 66)
        q.t(28, 139, L["insured"], z=6)
        for i, s in enumerate([e.name, e.street, e.city]):
            q.t(34, 152 + i * 12, s, z=8.5)
        q.box(306, 56, 282, 140)
        q.t(312, 66, L["companies"], z=6.5)
        q.t(548, 66, "NAIC #", z=6.5)
        for i, x in enumerate(insurers):
            q.t(312, 84 + i * 18, f"INSURER {'ABCDEF'[i]}: {x.name}", z=7.5)
            q.t(548, 84 + i * 18, x.naic, z=8)
        y = 206
        for x, s in ((28, "LTR" if how == "letters" else ""), (50, "TYPE OF INSURANCE"), (214, L["policy"]), (330, L["eff"]), (392, L["exp"]), (452, "LIMITS")):
            q.t(x, y, s, "Helvetica-Bold", 6.5)
        y += 5
        for letter, head, boxes, p, lims in rows:
            h = max(len(boxes) * 10 + 16, len(lims) * 11 + 10)
            q.box(24, y, 564, h)
            q.t(30, y + 14, letter, z=9)
            q.t(50, y + 10, head, "Helvetica-Bold", 7.5)
            for i, (s, on) in enumerate(boxes):
                q.tick(52, y + 21 + i * 10, on, 6)
                q.t(62, y + 21 + i * 10, s, z=6.5)
            q.t(214, y + 16, p.no, "Courier", 8)
            q.t(330, y + 16, d(p.eff), "Courier", 8)
            q.t(392, y + 16, d(p.exp), "Courier", 8)
            for i, (s, v) in enumerate(lims):
                q.t(452, y + 11 + i * 11, s, z=6.5)
                q.r(584, y + 11 + i * 11, f"$ {v}", "Courier", 8)
            y += h
        q.box(24, y, 564, 56)
        q.t(28, y + 9, "DESCRIPTION OF OPERATIONS / VEHICLES", z=6)
        q.wrap(32, y + 21, 548, desc, z=8)
        y += 56
        q.box(24, y, 282, 80)
        q.t(28, y + 9, L["holder"], z=6)
        for i, s in enumerate(hl):
            q.t(34, y + 24 + i * 12, s, z=9)
        q.wrap(312, y + 12, 270, "Should a policy above be cancelled before it expires, notice goes out as the policy says. This paper gives the holder no rights.", z=6.5, lead=8)
        return q.done(), f"certificate reportlab {how}", said
    body = "".join(f"<tr><td>{letter if how == 'letters' else esc(p.ins.name)}</td><td><b>{head}</b><br>" + "<br>".join(f"<span class=k>{'X' if on else '&nbsp;'}</span> {b}" for b, on in boxes)
                   + f"</td><td>{p.no}</td><td>{d(p.eff)}</td><td>{d(p.exp)}</td><td>" + "<br>".join(f"{a} ${v}" for a, v in lims) + "</td></tr>" for letter, head, boxes, p, lims in rows)
    comp = "<br>".join(f"{'ABCDEF'[i] + ') ' if how == 'letters' else ''}{esc(x.name)} &nbsp; NAIC {x.naic}" for i, x in enumerate(insurers))
    doc = f"""<h2>{title}</h2><table class=g><tr><td style='width:50%'><small>{L['agent']}</small><br>{esc(agent.name)}<br>{agent.street}<br>{agent.city}<br>{agent.phone}</td><td rowspan=2><small>{L['companies']}</small><br>{comp}</td></tr>
<tr><td><small>{L['insured']}</small><br>{esc(e.name)}<br>{e.street}<br>{e.city}</td></tr></table><table class=g><tr><th>{'Co' if how == 'letters' else 'Company'}<th>Type<th>{L['policy']}<th>{L['eff']}<th>{L['exp']}<th>Limits</tr>{body}</table>
<p><small>Remarks</small><br>{esc(desc)}</p><table class=g><tr><td><small>{L['holder']}</small><br>{'<br>'.join(esc(x) for x in hl)}</td><td><small>Date of this certificate {d(issued)}</small></td></tr></table>"""
    return weasy(doc, "@page{size:letter;margin:1.2cm} body{font-size:8pt} table{width:100%;border-collapse:collapse;margin-bottom:5pt} .g td,.g th{border:.6pt solid #333;padding:3pt;vertical-align:top;text-align:left} small{font-size:6pt} .k{border:.6pt solid #000;font-size:5.5pt;padding:0 2pt}"), f"certificate weasyprint {how}", said


def certificate_truth(m, f, e, ps, said, holder=None, optional=False):
    m.ent(e, f, "name addr", optional)
    for p in ps:
        c = p.covs[0]
        m.F("carrier", p.ins.name, f, optional).F("naic_number", p.ins.naic, f, optional).F("policy_number", p.no, f, optional).F("effective_date", p.eff, f, optional).F("expiry_date", p.exp, f, optional)
        m.F("coverage_type", c.kind, f, optional, **{"as": said[c.kind]}).F("limit", c.limit, f, optional or c.kind not in ("auto_liability", "motor_truck_cargo", "general_liability"))
        if c.second:
            m.F("limit", c.second, f, True)
        if c.ded:
            m.F("deductible", c.ded, f, True)
    if holder:
        m.F("certificate_holder", holder.name, f, True).not_(insured_name=holder.name)


def permission(r, e, to, d, insurers=(), lang="en"):
    """A letter of the insured that lets somebody have its loss runs. -> (file name, bytes)."""
    date = {"es": spanish, "fr": french}.get(lang, r.choice([long_us, us, long_day]))
    if lang == "es":
        t = f"Por la presente, {e.name} (USDOT {e.dot}) autoriza a {to} a solicitar nuestro historial de siniestros."
    elif lang == "fr":
        t = f"Par la présente, {e.name} (USDOT {e.dot}) autorise {to} à obtenir nos relevés de sinistres."
    else:
        t = r.choice(["Please accept this letter as authorization for {to} to receive loss runs for {e} (USDOT {dot}) for the last five years.", "{e}, DOT# {dot}, hereby authorizes {to} to request and receive our complete loss history.",
                      "This will serve as our consent to release loss information on {e} (DOT {dot}) to {to}. It does not change our agent of record."]).format(to=to, e=e.name, dot=e.dot)
    name = r.choice(["authorization letter", "LOA signed", "loss run authorization", "Letter", f"{e.short} LOA", "permission"])
    parts = [e.name, e.street, e.city, "", date(d), "", t, "", "_" * 24, f"{e.contact}, {e.role}", e.phone]
    if r.random() < .5:
        return name + ".docx", docx(lambda x: [x.add_paragraph(p) for p in parts])
    q = Draw(producer="Letterhead")
    y = 70
    for p in parts:
        y = q.wrap(72, y, 460, p or " ", "Times-Roman", 11, 15)
    return name + ".pdf", q.done()


def card_lines(p, v, r):
    return ["COMMERCIAL AUTO INSURANCE CARD", p.ins.name, f"NAIC {p.ins.naic}", f"Policy {p.no}", f"Effective {us(p.eff)}   Expires {us(p.exp)}", p.ent.name, f"{v['year']} {v['make']}", v["vin"], "KEEP THIS CARD IN THE VEHICLE"]


def id_card(r, p, v):
    """A proof-of-insurance card as a small PDF page."""
    q = Draw((360, 220), "CardPrint")
    q.box(8, 8, 344, 204)
    st_ = r.choice([("Policy Number", "Effective Date", "Expiration Date", "Insured", "VIN"), ("POLICY", "EFF", "EXP", "INSURED", "VEHICLE ID"), ("Policy No.", "From", "To", "Name of insured", "Serial no.")])
    q.m(180, 26, r.choice(["INSURANCE IDENTIFICATION CARD", "PROOF OF INSURANCE", "AUTO ID CARD"]), "Helvetica-Bold", 9)
    q.t(18, 44, p.ins.name, "Helvetica-Bold", 9)
    q.t(18, 55, f"NAIC {p.ins.naic}", z=7)
    for i, (a, b) in enumerate(zip(st_, (p.no, us(p.eff), us(p.exp), p.ent.name, v["vin"]))):
        x, y = (18 + i % 3 * 112, 74) if i < 3 else (18, 74 + (i - 2) * 32)
        q.t(x, y, a, z=6)
        q.t(x, y + 11, b, "Courier", 9)
    q.t(18, 180, f"{v['year']} {v['make']} {v['model']}", z=8)
    return q.done()
