"""Declarations and lists of policies as DOCX, XLSX and CSV."""
import datetime as dt

from produce import docx, docx_table, sheet, xlsx


def flat(v):
    return ", ".join(x for x in v if x)


def word(st, ps):
    """DOCX: facts as a table, as lines with tabs, as bold labels, or label and value in one cell."""
    how = st.r.choice(["table", "tabs", "bold", "cell", "four"])

    def build(x):
        if st.place == "top":
            x.sections[0].header.paragraphs[0].text = f"{ps[0].ins.name}  {st.naic_text(ps[0])}"
        elif st.place in ("foot", "side"):
            x.sections[0].footer.paragraphs[0].text = f"{ps[0].ins.name}  {st.naic_text(ps[0])}"
        elif st.place == "head":
            x.add_heading(ps[0].ins.name, 1)
            x.add_paragraph(f"{ps[0].ins.home}  {st.naic_text(ps[0])}")
        x.add_heading(st.lab("title"), 2)
        for p in ps:
            F = st.facts(p)
            if how == "table":
                docx_table(x, [(a + st.colon, "\n".join(y for y in b if y)) for a, b in F], st.r.choice(["Table Grid", "Light List", None]))
            elif how == "four":
                F2 = F + [("", [""])] * (len(F) % 2)
                docx_table(x, [(F2[i][0], flat(F2[i][1]), F2[i + 1][0], flat(F2[i + 1][1])) for i in range(0, len(F2), 2)])
            elif how == "tabs":
                for a, b in F:
                    x.add_paragraph(f"{a}{st.colon}\t{flat(b)}")
            elif how == "bold":
                for a, b in F:
                    q = x.add_paragraph()
                    q.add_run(a + (st.colon or ":") + " ").bold = True
                    q.add_run(flat(b))
            else:
                t = x.add_table(rows=0, cols=2)
                for i in range(0, len(F), 2):
                    c = t.add_row().cells
                    for j, (a, b) in enumerate(F[i:i + 2]):
                        c[j].text = a + "\n" + "\n".join(y for y in b if y)
            x.add_paragraph("")
            head, rows = st.cov_table(p)
            docx_table(x, [head] + rows)
            for k, data in (("hvehicles", st.veh_table(p.veh) if p.veh else None), ("hdrivers", st.drv_table(p.drv) if p.drv else None)):
                if data:
                    x.add_paragraph(st.lab(k))
                    docx_table(x, [data[0]] + data[1])
            for y in st.interests(p):
                x.add_paragraph(y)
        for y in st.boiler(ps[0]):
            x.add_paragraph(y)
    if len({p.ins.name for p in ps}) > 1:
        st.place = "label"
    data = docx(build)
    st.layout = f"docx {how}, insurer {st.place}"
    return data


def date_cell(st, s):
    return dt.date.fromisoformat(s) if st.memo.setdefault("real", st.r.random() < .5) else st.d(s)


def policy_rows(st, ps, real=True):
    """Head and a row for each coverage; what repeats is left empty or said again."""
    eff, exp = st.dates()
    head = [st.lab("insurer"), st.lab("naic"), st.lab("policy"), eff, exp, st.lab("coverage"), st.lab("limit"), st.lab("ded"), st.lab("premium")]
    d = (lambda s: date_cell(st, s)) if real else st.d
    rows, again = [], st.r.random() < .6
    for p in ps:
        p.show.add("naic")
        for i, c in enumerate(p.covs):
            if i and not again:
                rows.append([None] * 5 + [st.words(c), c.limit if not c.second else st.limit(c), c.ded, None])
            else:
                rows.append([p.ins.name, p.ins.naic, p.no, d(p.eff), d(p.exp), st.words(c), c.limit if not c.second else st.limit(c), c.ded, p.premium if i == 0 else None])
    order = list(range(9))
    st.r.shuffle(order)
    return [head[i] for i in order], [[r[i] for i in order] for r in rows]


def head_rows(st, e, show):
    out = [(st.lab("insured"), e.name)]
    if "addr" in show:
        out.append((st.lab("address"), e.addr))
    if "dot" in show:
        out.append((st.lab("dot"), int(e.dot) if st.r.random() < .5 else e.dot))
    if "mc" in show:
        out.append((st.lab("mc"), e.mc))
    return out


def workbook(st, ps):
    """XLSX: policies as rows, as columns, or label and value in two columns; vehicles on a second sheet or below."""
    st.place = "label"
    p, e = ps[0], ps[0].ent
    show = set().union(*(x.show for x in ps))
    how = st.r.choice(["rows", "rows", "columns", "pairs"]) if len(ps) > 1 else st.r.choice(["rows", "pairs"])
    rows = [(st.lab("title"),), ()]
    if how == "rows":
        h, body = policy_rows(st, ps)
        rows += head_rows(st, e, show) + [(), h] + body
    elif how == "pairs":
        for x in ps:
            rows += [(a, flat(b)) for a, b in st.facts(x)] + [()]
            h, body = st.cov_table(x)
            rows += [h] + body + [()]
    else:
        eff, exp = st.dates()
        for x in ps:
            x.show.add("naic")
        rows += head_rows(st, e, show) + [()]
        rows += [[st.lab("insurer")] + [x.ins.name for x in ps], [st.lab("naic")] + [x.ins.naic for x in ps], [st.lab("policy")] + [x.no for x in ps], [eff] + [date_cell(st, x.eff) for x in ps], [exp] + [date_cell(st, x.exp) for x in ps],
                 [st.lab("coverage")] + ["\n".join(st.words(c) for c in x.covs) for x in ps], [st.lab("limit")] + ["\n".join(st.limit(c) for c in x.covs) for x in ps], [st.lab("ded")] + ["\n".join(st.ded(c) for c in x.covs) for x in ps]]
    for x in ps:
        if how != "pairs":
            x.show |= show & {"dot", "mc", "addr"}
    veh, drv = [v for x in ps for v in x.veh], [d for x in ps for d in x.drv]
    sheets = {"Policies": rows}
    if veh:
        h, body = st.veh_table(veh)
        if st.r.random() < .5:
            sheets[st.r.choice(["Units", "Vehicles", "Equipment"])] = [h] + body
        else:
            rows += [(), (st.lab("hvehicles"),), h] + body
    if drv:
        h, body = st.drv_table(drv)
        rows += [(), h] + body
    hidden = ()
    if st.r.random() < .3:
        old = [st.world.number(st.r, p.ins, "auto_liability", "2021-01-01") for _ in range(2)]
        st.noise["policy_number"] += old
        sheets["Archive"] = [("Line", st.lab("policy"), "Year")] + [("Auto", n, 2019 + i) for i, n in enumerate(old)]
        hidden = ("Archive",)
    st.layout = f"xlsx {how}" + (", hidden old sheet" if hidden else "")
    return xlsx(sheets, hidden)


def csv_file(st, ps):
    """CSV with commas, semicolons or tabs, utf-8 or windows-1252; policies as rows, the insured in each row."""
    st.place = "label"
    h, body = policy_rows(st, ps, real=False)
    e = ps[0].ent
    show = set().union(*(p.show for p in ps))
    pre = head_rows(st, e, show)
    rows = [[a for a, _ in pre] + h] + [[b for _, b in pre] + [("" if c is None else c) for c in r] for r in body]
    for p in ps:
        p.show |= show & {"dot", "mc", "addr"}
    veh = [v for p in ps for v in p.veh]
    if veh:
        vh, vb = st.veh_table(veh)
        rows += [[], vh] + vb
    drv = [d for p in ps for d in p.drv]
    if drv:
        dh, db = st.drv_table(drv)
        rows += [[], dh] + db
    sep, cs = st.r.choice([(",", "utf-8"), (";", "cp1252"), ("\t", "utf-8"), (",", "cp1252"), (";", "utf-8")])
    st.layout = f"csv {({',': 'comma', ';': 'semicolon'}).get(sep, 'tab')} {cs}"
    return sheet(rows, sep, cs, cs == "utf-8" and st.r.random() < .3)
