"""Loss runs: tables, blocks, prints of three lines for a claim, workbooks and tab files.

A term is (policy number, effective, expiration, valued). Every layout prints for each claim its number, date and total;
`paid` and `reserve` stand beside them. Totals of a term or of the report are no claim.
"""
from produce import calm, docx, docx_table, esc, fpdf, latin, platypus, sheet, te, typ, weasy, xlsx
from values import *

WORDS = {"no": ["Claim Number", "Claim #", "Claim No.", "File No.", "Claim Ref", "Claim/Occ #"], "date": ["Date of Loss", "Loss Date", "DOL", "Accident Date", "Occurrence", "D/Loss"], "paid": ["Paid", "Total Paid", "Paid to Date", "Net Paid", "Loss Paid"],
         "res": ["Reserve", "Outstanding", "O/S Reserve", "Open Reserves", "Case Reserve"], "tot": ["Incurred", "Total Incurred", "Total", "Gross Incurred", "Tot. Inc."], "st": ["Status", "St", "O/C", "State"], "text": ["Description", "Cause of Loss", "Loss Description", "Accident Description"],
         "val": ["Valuation Date", "Valued as of", "Losses valued", "As of", "Evaluation Date", "Data as of"], "ins": ["Named Insured", "Insured", "Account", "Policyholder"], "title": ["Loss Run", "Loss History Report", "Claims Experience", "Claim Detail Report", "Policy Loss Experience", "Loss Summary"],
         "sub": ["Subtotal", "Policy total", "Term total", "Total this policy"], "all": ["Grand total", "Report total", "Total all policies", "Account total"], "pol": ["Policy", "Policy No.", "Policy Number", "Pol"]}


class Look:
    def __init__(s, r):
        s.w = {k: r.choice(v) for k, v in WORDS.items()}
        s.d = r.choice([us, us, us_two, us_bare, military, iso, us_dash, abbr_us])
        s.order = r.choice([["no", "date", "text", "paid", "res", "tot", "st"], ["date", "no", "st", "text", "paid", "res", "tot"], ["no", "st", "date", "text", "tot", "paid", "res"], ["st", "no", "date", "paid", "res", "tot", "text"]])
        s.dollar = r.random() < .4
        s.short = r.random() < .35
        s.term = r.choice([" - ", " to ", " thru "])
        s.r = r

    def m(s, n):
        return f"${n:,.2f}" if s.dollar else f"{n:,.2f}"

    def row(s, c):
        return dict(no=c["no"], date=s.d(c["date"]), text=c["text"], paid=s.m(c["paid"]), res=s.m(c["res"]), tot=s.m(c["tot"]), st=c["st"][:1] if s.short else c["st"])


def table(k, ins, e, cl, terms):
    """weasyprint: one table over pages, terms as bands or as own tables, subtotals, head repeated or not."""
    head = "".join(f"<th>{esc(k.w[c])}</th>" for c in k.order)
    n = len(k.order)
    repeat = "thead{display:table-header-group}" if k.r.random() < .6 else "thead{display:table-row-group}"
    body = ""
    for t in terms:
        mine = [c for c in cl if c["term"] == t]
        body += f"<tr class=b><td colspan={n}>{esc(k.w['pol'])} {t[0]} &nbsp; {k.d(t[1])}{k.term}{k.d(t[2])}</td></tr>"
        for c in mine:
            x = k.row(c)
            body += "<tr>" + "".join(f"<td>{esc(x[o])}{'<br><small>Claimant: ' + c['person'] + '</small>' if o == 'text' else ''}</td>" for o in k.order) + "</tr>"
        if not mine:
            body += f"<tr><td colspan={n}>{k.r.choice(['No losses reported', 'No claims', 'NO LOSSES FOR THIS PERIOD'])}</td></tr>"
        else:
            x = dict(paid=k.m(sum(c["paid"] for c in mine)), res=k.m(sum(c["res"] for c in mine)), tot=k.m(sum(c["tot"] for c in mine)))
            body += "<tr class=s>" + "".join(f"<td>{x.get(o, k.w['sub'] if i == 0 else '')}</td>" for i, o in enumerate(k.order)) + "</tr>"
    land = k.r.choice(["letter landscape", "letter landscape", "letter"])
    return weasy(f"<h2>{esc(ins.name)}</h2><p>{esc(ins.home)} &nbsp; NAIC {ins.naic}</p><h3>{k.w['title']}</h3><p>{k.w['ins']}: {esc(e.name)}<br>{k.w['val']}: {k.d(terms[0][3])}</p><table><thead><tr>{head}</tr></thead>{body}</table>",
                 f"@page{{size:{land};margin:1.3cm;@bottom-right{{content:'Page ' counter(page) ' of ' counter(pages);font-size:7pt;font-family:Vera}}}} body{{font-size:7.6pt}} table{{width:100%;border-collapse:collapse}} td,th{{padding:3pt;border-bottom:.5pt solid #bbb;text-align:left;vertical-align:top}} .b td{{background:#eee;font-weight:bold}} .s td{{border-top:1pt solid #000}} {repeat}"), "loss run table (weasyprint)"


def blocks(k, ins, e, cl, terms):
    """typst: a block of labels and values for each claim."""
    s = f'#set page("us-letter", margin: 1.9cm, footer: text(7pt)[{te(ins.name)} NAIC {ins.naic} #h(1fr) #context counter(page).display()])\n#set text(9pt, font: "Libertinus Serif")\n= {te(k.w["title"])}\n{te(k.w["ins"])}: {te(e.name)} \\ {te(k.w["val"])}: {te(k.d(terms[0][3]))}\n\n'
    for t in terms:
        s += f"== {te(k.w['pol'])} {te(t[0])} \\ {te(k.d(t[1]))}{te(k.term)}{te(k.d(t[2]))}\n"
        mine = [c for c in cl if c["term"] == t]
        for c in mine:
            x = k.row(c)
            cells = [f"{te(k.w[o])}: *{te(x[o])}*" for o in k.order]
            s += f"#block(breakable: false, stroke: 0.3pt, inset: 5pt, width: 100%)[{' #h(1em) '.join(cells)}]\n"
        if not mine:
            s += "No claims reported.\n"
    return typ(s + f"\n{te(k.w['all'])}: {te(k.m(sum(c['tot'] for c in cl)))}"), "loss run blocks (typst)"


def mono(k, ins, e, cl, terms):
    """fpdf2, Courier: two or three lines for a claim, the head on every page."""
    f, n = fpdf(orientation="L"), [0]
    y = [0]

    def w(s):
        if y[0] > 560 or not n[0]:
            f.add_page()
            n[0] += 1
            y[0] = 36
            f.set_font("Courier", "B", 9)
            for line in (f"{ins.name.upper():<80} NAIC {ins.naic}   PAGE {n[0]}", f"{k.w['title'].upper()}   {k.w['ins'].upper()}: {e.name.upper()}", f"{k.w['val'].upper()} {k.d(terms[0][3])}", "=" * 126):
                f.text(30, y[0], latin(line))
                y[0] += 11
        f.set_font("Courier", "", 9)
        f.text(30, y[0], latin(s))
        y[0] += 11
    for t in terms:
        w(f"{k.w['pol'].upper()} {t[0]}  {k.d(t[1])}{k.term}{k.d(t[2])}")
        mine = [c for c in cl if c["term"] == t]
        for c in mine:
            x = k.row(c)
            w(f"  {x['no']:<16} {x['date']:<14} {c['line']:<5} {x['st']:<8} {c['text'].upper()[:60]}")
            w(f"      {k.w['paid'].upper()} {x['paid']:>14}   {k.w['res'].upper()} {x['res']:>14}   {k.w['tot'].upper()} {x['tot']:>14}")
        if not mine:
            w("  *** NO LOSSES ***")
    w(f"{k.w['all'].upper()} {k.m(sum(c['tot'] for c in cl))}")
    return calm(bytes(f.output())), "loss run mono (fpdf2)"


def flowing(k, ins, e, cl, terms):
    """reportlab: a table for each term, wrapped cells, dates and numbers in narrow columns."""
    from reportlab.lib import colors
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, Spacer, Table
    S = getSampleStyleSheet()["BodyText"]
    P = lambda x: Paragraph(f"<font size=7.5>{esc(x)}</font>", S)
    story = [P(f"{k.w['title']} - {k.w['ins']}: {e.name}"), P(f"{k.w['val']} {k.d(terms[0][3])}"), Spacer(1, 8)]
    width = dict(no=74, date=66, text=130, paid=64, res=64, tot=68, st=44)
    rule = [("VALIGN", (0, 0), (-1, -1), "TOP"), ("FONTSIZE", (0, 0), (-1, -1), 7.5)] + k.r.choice([[("GRID", (0, 0), (-1, -1), .3, colors.grey)], [("LINEBELOW", (0, 0), (-1, 0), .8, colors.black)], [("BACKGROUND", (0, 0), (-1, 0), colors.lightgrey)]])
    for t in terms:
        story.append(P(f"{k.w['pol']} {t[0]}, {k.d(t[1])}{k.term}{k.d(t[2])}"))
        rows = [[k.w[o] for o in k.order]] + [[P(v) if o == "text" else v for o in k.order for v in [k.row(c)[o]]] for c in cl if c["term"] == t]
        story += [Table(rows, colWidths=[width[o] for o in k.order], repeatRows=1, style=rule) if len(rows) > 1 else P("No losses"), Spacer(1, 10)]
    story.append(P(f"{k.w['all']} {k.m(sum(c['tot'] for c in cl))}"))

    def page(c, d):
        c.setFont("Helvetica", 8)
        c.drawString(48, 758, f"{ins.name}  NAIC {ins.naic}")
        c.drawRightString(564, 28, f"Page {d.page}")
    return platypus(story, page=page), "loss run flowing (reportlab)"


def word(k, ins, e, cl, terms):
    """DOCX: one table for all terms, the policy in each row."""
    def build(x):
        x.add_heading(ins.name, 2)
        x.add_paragraph(f"NAIC {ins.naic}")
        x.add_paragraph(f"{k.w['ins']}: {e.name}")
        x.add_paragraph(f"{k.w['val']}: {k.d(terms[0][3])}")
        for t in terms:
            x.add_paragraph(f"{k.w['pol']} {t[0]}: {k.d(t[1])}{k.term}{k.d(t[2])}")
        rows = [[k.w["pol"]] + [k.w[o] for o in k.order]] + [[c["term"][0]] + [k.row(c)[o] for o in k.order] for c in cl]
        if cl:
            docx_table(x, rows)
        else:
            x.add_paragraph("No losses reported for any term.")
    return docx(build), "loss run table (docx)"


def flat_rows(k, ins, e, cl, terms):
    head = [k.w["pol"], "Eff", "Exp"] + [k.w[o] for o in k.order]
    rows = []
    for t in terms:
        mine = [c for c in cl if c["term"] == t]
        for c in mine:
            x = k.row(c)
            rows.append([t[0], k.d(t[1]), k.d(t[2])] + [x[o] if o not in ("paid", "res", "tot") else c[o] for o in k.order])
        if not mine:
            rows.append([t[0], k.d(t[1]), k.d(t[2]), "no losses"])
    return head, rows


def workbook(k, ins, e, cl, terms):
    head, rows = flat_rows(k, ins, e, cl, terms)
    top = [[ins.name, None, f"NAIC {ins.naic}"], [k.w["ins"], e.name], [k.w["val"], day(terms[0][3]) if k.r.random() < .5 else k.d(terms[0][3])], []]
    return xlsx({k.w["title"][:20]: top + [head] + rows}), "loss run rows (openpyxl)"


def tabbed(k, ins, e, cl, terms):
    head, rows = flat_rows(k, ins, e, cl, terms)
    sep, cs = k.r.choice([("\t", "utf-8"), (";", "cp1252"), (",", "utf-8")])
    rows = [[f"{c:.2f}" if isinstance(c, float) else c for c in r] for r in rows]
    return sheet([[ins.name, "NAIC " + ins.naic], [k.w["ins"], e.name, k.w["val"], k.d(terms[0][3])], head] + rows, sep, cs), "loss run separated values"


LAYOUTS = [("pdf", table), ("pdf", table), ("pdf", blocks), ("pdf", mono), ("pdf", flowing), ("docx", word), ("xlsx", workbook), ("csv", tabbed)]


def make(m, r, w, ins, e, cl, terms, deck=LAYOUTS, optional=False):
    """A loss run as a paper of the mail m, with its truth. -> (file name, bytes)."""
    k = Look(r)
    ext, layout = w.deal(deck) if deck is LAYOUTS else r.choice(deck)
    data, name = layout(k, ins, e, cl, terms)
    file = r.choice(["Loss Run", "losses", f"{e.short} loss run", "LossHistory", "LR_" + terms[0][0].replace("/", "-"), "claims report"]) + "." + ext
    f = "att:" + file
    m.paper(file, "loss_run", layout=name)
    w.layouts[name] = w.layouts.get(name, 0) + 1
    m.F("insured_name", e.name, f, optional).F("carrier", ins.name, f, optional).F("naic_number", ins.naic, f, optional).F("valuation_date", terms[0][3], f, optional)
    for t in terms:
        m.F("policy_number", t[0], f, optional).F("effective_date", t[1], f, optional).F("expiry_date", t[2], f, optional)
    for c in cl:
        m.F("claim_number", c["no"], f, optional).F("claim_date", c["date"], f, optional).F("claim_amount", c["tot"], f, optional)
        for x in (c["paid"], c["res"]):
            if x and x != c["tot"]:
                m.F("claim_amount", x, f, True)
    m.t["claims"] = [dict(claim_number=c["no"], date=c["date"], paid=c["paid"], reserve=c["res"], total=c["tot"], status=c["st"]) for c in cl]
    if len(cl) > 1 and layout in (blocks, mono, flowing):
        m.not_(claim_amount=round(sum(c["tot"] for c in cl), 2))
    if layout is table:
        for t in terms:
            mine = [c["tot"] for c in cl if c["term"] == t]
            if len(mine) > 1:
                m.not_(claim_amount=round(sum(mine), 2))
    return file, data


def terms_of(w, r, p, valued, n):
    """n terms back from policy p, the newest last."""
    out = []
    for i in range(n):
        old = w.number(r, p.ins, p.covs[0].kind, plus_year(p.eff, -i)) if i else p.no
        out.append((old, plus_year(p.eff, -i), plus_year(p.exp, -i), valued))
    return out[::-1]
