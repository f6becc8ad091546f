"""Declarations drawn with reportlab and fpdf2: prints of old systems, boxed forms, columns, schedules over pages, form fields."""
from produce import Draw, fpdf, calm, latin, platypus, wide


def flat(v):
    return ", ".join(x for x in v if x)


def mono(st, ps):
    """fpdf2, Courier: one to three facts to a line, the rest of the page in columns of characters."""
    f = fpdf()
    y = [0]

    def newpage():
        f.add_page()
        y[0] = 44

    def w(s="", b=""):
        if y[0] > 740:
            newpage()
        f.set_font("Courier", b, 8.6)
        f.text(34, y[0], latin(s)[:106])
        y[0] += 11.5
    newpage()
    rule = st.r.choice("-=*_")
    for p in ps:
        if st.alone:
            w(f"{p.ins.name.upper():<64}{st.naic_text(p)}", "B")
        w(f"{st.lab('title').upper():^100}", "B")
        w(rule * 104)
        short = [(a, flat(b)) for a, b in st.facts(p)]
        n, row = st.r.choice([1, 2, 2, 3]), []
        for a, b in short:
            item = f"{a.upper()}{st.colon or ':'} {b.upper()}"
            if len(item) > 104 // n - 2 or n == 1:
                if row:
                    w("".join(f"{x:<{104 // n}}" for x in row))
                row = []
                if len(item) > 104:
                    w(f"{a.upper()}{st.colon or ':'}")
                    [w("     " + x) for x in fold(b.upper(), 96)]
                else:
                    w(item)
                continue
            row.append(item)
            if len(row) == n:
                w("".join(f"{x:<{104 // n}}" for x in row))
                row = []
        if row:
            w("".join(f"{x:<{104 // n}}" for x in row))
        for head, rows in [st.cov_table(p)] + ([st.veh_table(p.veh)] if p.veh else []) + ([st.drv_table(p.drv)] if p.drv else []):
            w(rule * 104)
            size = [max(len(r[i]) for r in [head] + rows) + 2 for i in range(len(head))]
            w("".join(f"{h.upper():<{n}}" for h, n in zip(head, size)), "B")
            for r in rows:
                w("".join(f"{c.upper() if n_ != 1 else c.upper():<{n_}}" for c, n_ in zip(r, size)))
        [w(x.upper()) for x in st.interests(p)]
        w(rule * 104)
        for x in st.boiler(p) if p is ps[-1] else []:
            [w(y.upper()) for y in fold(x, 100)]
        w(st.foot(p).upper())
        w()
    st.layout = "fpdf2 mono print, insurer " + ("first line" if st.alone else st.place)
    return calm(bytes(f.output()))


def fold(s, n):
    out, cur = [], ""
    for word in s.split():
        if len(cur) + len(word) > n:
            out.append(cur)
            cur = ""
        cur += (" " if cur else "") + word
    return out + [cur]


class Flow:
    """A cursor over the pages of a Draw, with what stands on every page."""

    def __init__(s, q, every, top=60, bottom=740):
        s.q, s.every, s.top, s.bottom, s.n = q, every, top, bottom, 1
        s.y = top
        every(1)

    def need(s, h):
        if s.y + h > s.bottom:
            s.q.page()
            s.n += 1
            s.every(s.n)
            s.y = s.top
            return True
        return False


def rule_table(st, fl, head, rows, x=40, w=532, font="Helvetica", repeat=True, z=8):
    """A table with columns as wide as their content; the head again on each page, or only once."""
    q = fl.q
    bold = "Times-Bold" if "Times" in font else "Helvetica-Bold"
    size = [max([wide(head[i], bold, z)] + [wide(r[i], font, z) for r in rows]) + 12 for i in range(len(head))]
    k = min(1.0, w / sum(size))
    size = [n * k for n in size]
    z = z * (k if k < 1 else 1)
    right = [h and all(c[:1] in "$0123456789-" and not len(c) == 17 for c in (r[i] for r in rows)) for i, h in enumerate(head)]

    def line(cells, f):
        cx = x
        for c, n, a in zip(cells, size, right):
            (q.r(cx + n - 6, fl.y, c, f, z) if a else q.t(cx, fl.y, c, f, z))
            cx += n
        fl.y += z + 5
    fl.need(40)
    line(head, bold)
    q.line(x, fl.y - z - 1, x + sum(size), fl.y - z - 1)
    for r in rows:
        if fl.need(z + 5) and repeat:
            line(head, bold)
        line(r, font)


def start(st, p, producer, size=(612, 792)):
    """A page with the insurer where the style wants it; -> Draw, Flow."""
    q = Draw(size, producer)

    def every(n):
        name = f"{p.ins.name}   {st.naic_text(p)}"
        if st.place == "head" and n == 1:
            q.t(40, 40, p.ins.name, "Helvetica-Bold", 14)
            q.t(40, 51, f"{p.ins.home}   {st.naic_text(p)}", z=7)
        elif st.place == "foot":
            q.m(q.W / 2, q.H - 28, name, z=8)
        elif st.place == "top":
            q.r(q.W - 40, 34, name, "Helvetica-Oblique", 8)
        elif st.place == "side":
            q.side(26, q.H - 120, name)
        q.t(q.W - 90, q.H - 18, f"Page {n}", z=7)
        q.t(40, q.H - 18, p.no if n > 1 else st.memo.setdefault("foot", st.foot(p)), z=6.5)
    return q, Flow(q, every, 76, q.H - 52)


def rest(st, p, fl, font="Helvetica", z=8):
    """Coverages, vehicles, drivers and interests below a head."""
    q = fl.q
    fl.y += 8
    fl.need(30)
    q.t(40, fl.y, st.lab("hcover"), "Helvetica-Bold", 10)
    fl.y += 16
    if st.tick:
        for w, l, on in st.ticks(p):
            q.tick(44, fl.y, on)
            q.t(58, fl.y, w, font, z)
            q.t(300, fl.y, l, font, z)
            fl.y += 13
    else:
        rule_table(st, fl, *st.cov_table(p), font=font, z=z)
    repeat = st.r.random() < .5
    for title, data in (("hvehicles", st.veh_table(p.veh) if p.veh else None), ("hdrivers", st.drv_table(p.drv) if p.drv else None)):
        if data:
            fl.y += 10
            fl.need(50)
            q.t(40, fl.y, st.lab(title), "Helvetica-Bold", 10)
            fl.y += 16
            rule_table(st, fl, *data, font=font, repeat=repeat, z=z)
            if title == "hvehicles" and st.size < 9:
                q.t(300, fl.y, f"{st.r.choice(['Total', 'Subtotal', 'Total values'])} {len(p.veh)}: {st.m(sum(v['value'] for v in p.veh))}", font, z)
                fl.y += 12
    if len(p.veh) > 12:
        st.memo["pages"] = f", schedule over pages, head {'repeated' if repeat else 'once'}"
    for x in st.interests(p):
        fl.need(12)
        q.t(40, fl.y + 6, x, font, 8)
        fl.y += 11
    if not st.memo.get("printed"):
        st.memo["printed"] = True
        for x in st.boiler(p):
            fl.need(30)
            fl.y = q.wrap(40, fl.y + 10, 532, x, font, 7, 8.5)


def boxed(st, ps):
    """reportlab: boxes of a printed form, small label in the corner of each."""
    p = ps[0]
    q, fl = start(st, p, "FormWriter 9")
    q.m(306, 66, st.lab("title"), "Helvetica-Bold", 12)
    for p in ps:
        F, i = st.facts(p), 0
        while i < len(F):
            n = 1 if len(F[i][1]) > 2 or max(map(len, F[i][1])) > 46 else 2 if max(len(x) for _, b in F[i:i + 3] for x in b) > 24 else 3
            part = F[i:i + n]
            h = 16 + 11 * max(len(b) for _, b in part)
            fl.need(h)
            for j, (a, b) in enumerate(part):
                x = 40 + j * 532 / len(part)
                q.box(x, fl.y, 532 / len(part), h)
                q.t(x + 3, fl.y + 8, a, z=5.8)
                for k, line in enumerate(b):
                    q.t(x + 8, fl.y + 19 + k * 11, line, st.memo.setdefault("font", st.r.choice(["Courier", "Helvetica", "Courier-Bold"])), 9)
            fl.y += h
            i += len(part)
        fl.y += 12
        rest(st, p, fl)
    st.layout = f"reportlab boxes, insurer {st.place}" + st.memo.get("pages", "")
    return q.done()


def blocks(st, ps):
    """reportlab: two or three narrow columns, label in front of the value or over it."""
    p = ps[0]
    q, fl = start(st, p, "Declare 4.0")
    q.t(40, 68, st.lab("title"), "Times-Bold", 13)
    for p in ps:
        F, n = st.facts(p), st.r.choice([2, 3])
        over = st.r.random() < .5
        w, ys, size = 532 / n, [fl.y + 8] * n, -(-len(F) // n)
        for i, (a, b) in enumerate(F):
            c = i // size
            x = 40 + c * w
            if over or wide(a + flat(b), "Times-Roman", 9) > w - 20:
                q.t(x, ys[c], a + st.colon, "Times-Italic", 7.5)
                ys[c] += 10
                for line in b:
                    ys[c] = q.wrap(x + 6, ys[c], w - 14, line, "Times-Roman", 9.5, 11)
            else:
                q.t(x, ys[c], f"{a}{st.colon or ':'} {flat(b)}", "Times-Roman", 9)
                ys[c] += 11
            ys[c] += 3
        fl.y = max(ys)
        rest(st, p, fl, "Times-Roman", 9)
    st.layout = f"reportlab columns, insurer {st.place}" + st.memo.get("pages", "")
    return q.done()


def far(st, ps):
    """reportlab: label at the left margin, value far away at the right one."""
    p = ps[0]
    q, fl = start(st, p, "LinePrint")
    q.m(306, 66, st.lab("title"), "Helvetica", 13)
    dots = st.r.random() < .4
    for p in ps:
        for a, b in st.facts(p):
            for i, line in enumerate(b):
                if i == 0:
                    q.t(50, fl.y + 10, a + st.colon, z=9)
                    if dots:
                        n = int((500 - wide(a, "Helvetica", 9) - wide(line, "Helvetica-Bold", 9)) / 5)
                        q.t(58 + wide(a + st.colon, "Helvetica", 9), fl.y + 10, "." * (n * 2 - 2), z=9)
                q.r(562, fl.y + 10, line, "Helvetica-Bold", 9)
                fl.y += 13
            fl.y += 3
        rest(st, p, fl)
    st.layout = f"reportlab right margin{' dots' if dots else ''}, insurer {st.place}" + st.memo.get("pages", "")
    return q.done()


def behind(st, ps):
    """fpdf2: the value first, its label behind it in small print."""
    f = fpdf(break_=True)
    f.add_page()
    y = 50
    for i, p in enumerate(ps):
        if i and y > 480:
            f.add_page()
            y = 50
        if st.alone:
            f.set_font("Helvetica", "B", 15)
            f.text(50, y, latin(p.ins.name))
            f.set_font("Helvetica", "", 8)
            f.text(50, y + 11, latin(f"{p.ins.home}  {st.naic_text(p)}"))
            y += 30
        for a, b in st.facts(p):
            f.set_font("Times", "B", 10.5)
            v = latin(flat(b))
            if y > 730:
                f.add_page()
                y = 50
                f.set_font("Times", "B", 10.5)
            f.text(50, y, v)
            f.set_font("Times", "I", 7.5)
            if len(v) > 62:
                y += 11
            f.text(max(300, 60 + len(v) * 6) if len(v) <= 62 else 300, y, latin(f"({a})"))
            y += 15
        for head, rows in [st.cov_table(p)] + ([st.veh_table(p.veh)] if p.veh else []) + ([st.drv_table(p.drv)] if p.drv else []):
            if y > 660:
                f.add_page()
                y = 50
            f.set_y(y + 4)
            f.set_font("Times", "", 9)
            with f.table(first_row_as_headings=True, line_height=12, text_align="LEFT") as t:
                for r in [head] + rows:
                    row = t.row()
                    [row.cell(latin(c)) for c in r]
            y = f.get_y() + 8
        y += 14
    f.set_xy(48, y)
    f.set_font("Times", "", 7.5)
    for x in st.boiler(ps[0]):
        f.multi_cell(0, 9, latin(x), new_x="LMARGIN", new_y="NEXT")
    st.layout = "fpdf2 value before label, insurer " + ("head" if st.alone else st.place)
    return calm(bytes(f.output()))


def wrapped(st, ps):
    """fpdf2: everything in tables with narrow columns, so that cells wrap; pages break by themselves, heads repeated."""
    f = fpdf(break_=True, orientation=st.r.choice("PPL"))
    p = ps[0]
    if st.place in ("foot", "top", "side"):
        def note(x):
            x.set_font("Helvetica", "", 8)
            x.text(48, 30 if st.place == "top" else x.h - 26, latin(f"{p.ins.name}  {st.naic_text(p)}"))
        f.top = note
    f.add_page()
    if st.place == "head":
        f.set_font("Helvetica", "B", 14)
        f.cell(0, 18, latin(p.ins.name), new_x="LMARGIN", new_y="NEXT", align=st.r.choice("LCR"))
        f.set_font("Helvetica", "", 8)
        f.cell(0, 12, latin(f"{p.ins.home} {st.naic_text(p)}"), new_x="LMARGIN", new_y="NEXT")
    f.set_font("Helvetica", "B", 11)
    f.cell(0, 20, latin(st.lab("title")), new_x="LMARGIN", new_y="NEXT")
    for p in ps:
        F = st.facts(p)
        f.set_font("Helvetica", "", 9)
        if st.r.random() < .5:
            with f.table(first_row_as_headings=False, col_widths=(3, 7), line_height=12, text_align="LEFT", borders_layout=st.r.choice(["ALL", "HORIZONTAL_LINES", "NONE"])) as t:
                for a, b in F:
                    row = t.row()
                    row.cell(latin(a + st.colon))
                    row.cell(latin("\n".join(x for x in b if x)))
        else:
            for i in range(0, len(F), 3):
                part = F[i:i + 3]
                with f.table(first_row_as_headings=True, line_height=11, text_align="LEFT") as t:
                    row = t.row()
                    [row.cell(latin(a)) for a, _ in part]
                    row = t.row()
                    [row.cell(latin("\n".join(x for x in b if x))) for _, b in part]
                f.ln(4)
            st.memo["how"] = " labels over values"
        for head, rows in [st.cov_table(p)] + ([st.veh_table(p.veh)] if p.veh else []) + ([st.drv_table(p.drv)] if p.drv else []):
            f.ln(8)
            share = [max(4, min(22, max(len(r[i]) for r in [head] + rows))) for i in range(len(head))]
            with f.table(line_height=11, text_align="LEFT", col_widths=share, borders_layout=st.r.choice(["ALL", "SINGLE_TOP_LINE", "MINIMAL"])) as t:
                for r in [head] + rows:
                    row = t.row()
                    [row.cell(latin(c)) for c in r]
        f.ln(10)
    f.set_font("Helvetica", "", 7)
    for x in st.boiler(ps[0]):
        f.multi_cell(0, 9, latin(x), new_x="LMARGIN", new_y="NEXT")
    st.layout = f"fpdf2 tables{st.memo.get('how', '')}, insurer {st.place}"
    return calm(bytes(f.output()))


def flowing(st, ps):
    """reportlab platypus: paragraphs and tables that flow over pages."""
    from reportlab.lib import colors
    from reportlab.lib.styles import getSampleStyleSheet
    from reportlab.platypus import Paragraph, Spacer, Table
    S = getSampleStyleSheet()
    p = ps[0]
    P = lambda x, k="BodyText": Paragraph(x.replace("&", "&amp;"), S[k])
    story = [P(st.lab("title"), "Heading2")]
    rule = st.r.choice([[("GRID", (0, 0), (-1, -1), .4, colors.grey)], [("LINEBELOW", (0, 0), (-1, -1), .3, colors.lightgrey)], [("BOX", (0, 0), (-1, -1), .6, colors.black)]]) + [("VALIGN", (0, 0), (-1, -1), "TOP"), ("FONTSIZE", (0, 0), (-1, -1), 8)]

    def page(c, d):
        c.setFont("Helvetica", 8)
        if st.alone:
            y = 24 if st.place == "foot" else 792 - 36
            c.drawString(48, y, f"{p.ins.name}   {st.naic_text(p)}")
        c.drawRightString(564, 24, f"Page {d.page}")
    for x in ps:
        head = [[P(a + st.colon), [P(y) for y in b if y]] for a, b in st.facts(x)]
        if st.r.random() < .4:
            head = [[head[i][0], head[i][1], *(head[i + 1] if i + 1 < len(head) else ["", ""])] for i in range(0, len(head), 2)]
            story.append(Table(head, colWidths=[86, 172, 86, 172], style=rule))
        else:
            story.append(Table(head, colWidths=[150, 366], style=rule))
        repeat = st.r.choice([0, 1])
        for h, rows in [st.cov_table(x)] + ([st.veh_table(x.veh)] if x.veh else []) + ([st.drv_table(x.drv)] if x.drv else []):
            story += [Spacer(1, 10), Table([[P(f"<b>{c}</b>") for c in h]] + [[P(c) if len(c) != 17 else c for c in r] for r in rows], repeatRows=repeat, style=rule + [("FONTNAME", (0, 1), (-1, -1), "Courier")])]
        if st.interests(x):
            story += [Spacer(1, 8)] + [P(y) for y in st.interests(x)]
        story.append(Spacer(1, 18))
    story += [P(f"<font size=7>{x}</font>") for x in st.boiler(p)]
    st.layout = f"reportlab flowing, insurer {'top' if st.place in ('head', 'side') else st.place}"
    return platypus(story, page=page)


def acroform(st, ps):
    """reportlab: labels are printed, values stand in form fields only."""
    p = ps[0]
    st.place = "label"
    q = Draw(producer="Fill and Sign")
    q.m(306, 44, st.lab("title"), "Helvetica-Bold", 13)
    F = [(a, flat(b)) for a, b in st.facts(p)]
    for i, c in enumerate(p.covs, 1):
        F += [(f"{st.lab('coverage')} {i}", st.words(c)), (f"{st.lab('limit')} {i}", st.limit(c))] + ([(f"{st.lab('ded')} {i}", st.m(c.ded))] if c.ded else [])
    F += [(f"{st.lab('vin')} {i}", v["vin"]) for i, v in enumerate(p.veh, 1)] + [(f"{st.lab('driver')} {i}", f"{n}, {lic}") for i, (n, lic) in enumerate(p.drv, 1)]
    y, gap = 66, min(24, 660 / len(F))
    for i, (a, b) in enumerate(F):
        q.t(50, y + 12, a, z=8)
        q.c.acroForm.textfield(name=f"f{i}_{a[:9].strip().replace(' ', '_').replace('.', '')}", x=215, y=q.H - y - 17, width=340, height=min(17, gap - 4), value=latin(b), fontSize=8.5, borderWidth=1, forceBorder=True)
        y += gap
    q.c.acroForm.checkbox(name="renewal", x=50, y=q.H - y - 18, size=12, checked=True)
    q.t(68, y + 15, "Renewal", z=8)
    q.c.acroForm.checkbox(name="new", x=150, y=q.H - y - 18, size=12, checked=False)
    q.t(168, y + 15, "New", z=8)
    st.layout = "reportlab form fields"
    return q.done()
