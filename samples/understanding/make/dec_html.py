"""Declarations made with weasyprint: an arrangement of the head, one of the coverages, one of the vehicles and a place
for the insurer are chosen by the style and put together. Also HTML and text files that are attached as they are."""
from produce import esc, weasy

BASE = """@page{{size:{page};margin:{margin};{boxes}}} body{{font-size:{size}pt;line-height:1.35}} h1{{font-size:15pt;margin:0;color:{tone}}} h2{{font-size:11pt;margin:8pt 0 4pt}} h3{{font-size:9.5pt;margin:9pt 0 3pt;color:{tone}}}
table{{width:100%;border-collapse:collapse}} td,th{{padding:2.5pt 4pt;text-align:left;vertical-align:top;font-size:{size}pt}} small,.s{{font-size:6.5pt;color:#555}} .r{{text-align:right}}
.line td,.line th{{border-bottom:.6pt solid #bbb}} .grid td,.grid th{{border:.6pt solid #777}} .head th{{background:{tone};color:#fff}} .zebra tr:nth-child(even) td{{background:#eef1f4}}
.side{{position:absolute;left:-1.1cm;top:15cm;transform:rotate(-90deg);transform-origin:left top;color:{tone};font-size:11pt;white-space:nowrap}}"""


def lines(v):
    return "<br>".join(esc(x) for x in v if x)


# ---------------------------------------------------------------- the head
def above(st, F):
    n = st.r.choice([2, 3, 3, 4])
    cells = "".join(f"<div><i>{esc(a)}{st.colon}</i>{lines(b)}</div>" for a, b in F)
    return f"<div class=g>{cells}</div>", f".g{{display:grid;grid-template-columns:repeat({n},1fr);gap:6pt 10pt}} .g i{{display:block;font-style:normal;font-size:6.3pt;color:{st.tone}}}"


def below(st, F):
    n = st.r.choice([2, 3])
    cells = "".join(f"<div>{lines(b)}<i>{esc(a)}</i></div>" for a, b in F)
    return f"<div class=g>{cells}</div>", f".g{{display:grid;grid-template-columns:repeat({n},1fr);gap:8pt 14pt}} .g div{{padding-bottom:2pt}} .g i{{display:block;border-top:.6pt solid #888;font-size:6.3pt;color:#555}}"


def rows(st, F):
    k = st.r.choice(["line", "grid", "", "zebra"])
    return f"<table class='{k}'>" + "".join(f"<tr><td style='width:34%;color:#333'>{esc(a)}{st.colon}</td><td><b>{lines(b)}</b></td></tr>" for a, b in F) + "</table>", ""


def right(st, F):
    return "<table class=line>" + "".join(f"<tr><td style='width:60%'>{lines(b)}</td><td class=s>{esc(a)}</td></tr>" for a, b in F) + "</table>", ""


def pairs(st, F):
    """Two pairs of label and value on one row."""
    F = F + [("", [""])] * (len(F) % 2)
    body = "".join("<tr>" + "".join(f"<td class=l>{esc(a)}{st.colon if a else ''}</td><td>{lines(b)}</td>" for a, b in F[i:i + 2]) + "</tr>" for i in range(0, len(F), 2))
    return f"<table class={st.r.choice(['grid', 'line'])}>{body}</table>", ".l{width:18%;color:#444;font-size:7pt}"


def leaders(st, F):
    return "".join(f"<p class=d><span>{esc(a)} </span> {esc(', '.join(x for x in b if x))}</p>" for a, b in F), ".d{margin:2pt 0} .d span::after{content:leader('. ')}"


def boxes(st, F):
    out = ""
    for i, (a, b) in enumerate(F, 1):
        w = 100 if len(b) > 2 else st.r.choice([49, 49, 32, 65])
        out += f"<div class=b style='width:{w}%'><i>{i if st.colon == ' :' else ''} {esc(a)}</i>{lines(b)}</div>"
    return f"<div class=w>{out}</div>", ".w{display:flex;flex-wrap:wrap} .b{box-sizing:border-box;border:.7pt solid #333;padding:2pt 4pt;min-height:24pt;flex-grow:1} .b i{display:block;font-style:normal;font-size:5.8pt}"


def columns(st, F):
    """Blocks beside each other, every label in the line above or in front of its value."""
    n = st.r.choice([2, 3])
    size = -(-len(F) // n)
    inline = st.r.random() < .5
    cols = ["".join(f"<p>{esc(a)}{st.colon or (':' if inline else '')}{' ' if inline else '<br>'}<b>{lines(b)}</b></p>" for a, b in F[i:i + size]) for i in range(0, len(F), size)]
    return "<table><tr>" + "".join(f"<td>{c}</td>" for c in cols) + "</tr></table>", "p{margin:3pt 0}"


def items(st, F):
    word = st.r.choice(["ITEM", "Item", "Section", "Part"])
    num = st.r.choice([["1", "2", "3", "4", "5", "6", "7", "8", "9", "10", "11", "12", "13", "14"], ["ONE", "TWO", "THREE", "FOUR", "FIVE", "SIX", "SEVEN", "EIGHT", "NINE", "TEN", "ELEVEN", "TWELVE", "THIRTEEN", "FOURTEEN"]])
    return "".join(f"<p class=i>{word} {num[i]}. {esc(a)}{st.colon}<br><b>{lines(b)}</b></p>" for i, (a, b) in enumerate(F)), ".i{margin:3pt 0 4pt} .i b{margin-left:22pt;font-weight:normal}"


HEADS = [above, below, rows, right, pairs, leaders, boxes, columns, items]


# ---------------------------------------------------------------- coverages, vehicles, drivers
def table(st, head, body, kind=None):
    kind = kind or st.r.choice(["line", "grid", "head line", "zebra", "head zebra"])
    return f"<table class='{kind}'><thead><tr>" + "".join(f"<th>{esc(h)}</th>" for h in head) + "</tr></thead>" + "".join("<tr>" + "".join(f"<td>{esc(c)}</td>" for c in r) + "</tr>" for r in body) + "</table>"


def coverages(st, p):
    if st.tick:
        return "".join(f"<div style='margin:2pt'><span style='border:.7pt solid #000;padding:0 2pt;font-size:6.5pt'>{'X' if on else '&nbsp;'}</span> {esc(w)} {'&nbsp; ' + esc(l) if l else ''}</div>" for w, l, on in st.ticks(p))
    how = st.r.choice(["table", "table", "list", "sentence", "tiles"])
    if how == "table":
        return table(st, *st.cov_table(p))
    ded = lambda c: f" ({esc(st.lab('ded').lower())} {st.m(c.ded)})" if c.ded else ""
    if how == "list":
        return "<ul>" + "".join(f"<li>{esc(st.words(c))}{st.r.choice([' - ', ': ', ' ... '])}{st.limit(c)}{ded(c)}</li>" for c in p.covs) + "</ul>"
    if how == "tiles":
        return "<div style='display:flex;flex-wrap:wrap;gap:6pt'>" + "".join(f"<div style='border:.6pt solid #999;padding:4pt 8pt'><b>{st.limit(c)}</b><br>{esc(st.words(c))}{ded(c)}</div>" for c in p.covs) + "</div>"
    text = {"es": "Por {} pagamos hasta {}.", "fr": "Pour {}, nous payons jusqu'à {}."}.get(st.lang, "Under {} we pay no more than {}.")
    return "<p>" + " ".join(esc(text.format(st.words(c), st.limit(c))) + ded(c) for c in p.covs) + "</p>"


def vehicles(st, vs):
    how = st.r.choice(["table", "table", "table", "lines", "blocks"]) if len(vs) < 12 else "table"
    if how == "table":
        return table(st, *st.veh_table(vs))
    if how == "lines":
        return "".join(f"<div>{v['year']} {esc(v['make'])} {esc(v['model'])}, {esc(st.lab('vin'))} {v['vin']}</div>" for v in vs)
    return "".join(f"<p class=v><small>{esc(st.lab('unit'))} {v['unit']}</small><br>{esc(st.lab('vin'))}{st.colon} <b>{v['vin']}</b><br>{v['year']} {esc(v['make'])} {esc(v['model'])} &nbsp; {st.m(v['value'])}</p>" for v in vs)


def extras(st, p):
    out = ""
    if p.veh:
        out += f"<h3>{esc(st.lab('hvehicles'))}</h3>" + vehicles(st, p.veh)
    if p.drv:
        head, body = st.drv_table(p.drv)
        out += f"<h3>{esc(st.lab('hdrivers'))}</h3>" + table(st, head, body)
    if st.interests(p):
        out += "<p>" + lines(st.interests(p)) + "</p>"
    return out


def place(st, p):
    """(text at the top, at the side or foot, page margin boxes)."""
    name, naic = esc(p.ins.name), esc(st.naic_text(p))
    if not st.alone:
        return "", "", ""
    if st.place == "head":
        at = st.r.choice(["left", "center", "right"])
        return f"<div style='text-align:{at};border-bottom:2pt solid {st.tone};padding-bottom:3pt'><h1>{name}</h1><small>{esc(p.ins.home)} {'&nbsp; ' + naic if naic else ''}</small></div>", "", ""
    if st.place == "side":
        return "", f"<div class=side>{name} {naic}</div>", ""
    q = f"{p.ins.name}  {st.naic_text(p)}".replace('"', "'").replace("&", "\\26 ")
    where = {"top": st.r.choice(["@top-left", "@top-right", "@top-center"]), "foot": st.r.choice(["@bottom-center", "@bottom-left"])}[st.place]
    return "", "", f'{where}{{content:"{q}";font-family:Vera;font-size:8pt}}'


def summary(st, ps):
    """Several policies as rows or columns of one table."""
    return paper(st, ps, st.r.choice(["columns", "rows"]))


def paper(st, ps, how=None):
    """One or several policies of one insured; how: sections, columns or rows."""
    p, top, more, margin = ps[0], "", "", ""
    if len({x.ins.name for x in ps}) > 1:
        st.place = "label"
    top, side, margin = place(st, p)
    head = st.r.choice(HEADS)
    body = f"{side}{top}<h2>{esc(st.lab('title'))}</h2>"
    if len(ps) == 1:
        h, css = head(st, st.facts(p))
        body += h + f"<h3>{esc(st.lab('hcover'))}</h3>" + coverages(st, p) + extras(st, p)
    else:
        h, css = head(st, st.insured_facts(ps[0].__class__(**{**p.__dict__, "show": set().union(*(x.show for x in ps))})))
        body += h
        how = how or st.r.choice(["sections", "columns", "rows"])
        if how == "sections":
            for i, x in enumerate(ps, 1):
                h2, css2 = head(st, st.facts(x, insured=False, extras=False))
                css += css2
                body += f"<h3>{st.r.choice(['Policy', 'Part', 'Section'])} {i}</h3>" + h2 + coverages(st, x) + extras(st, x)
        else:
            body += several(st, ps, how) + "".join(extras(st, x) for x in ps)
        if st.agent:
            st.noise["insured_name"].append(st.agent.name)
            body += f"<p class=s>{esc(st.lab('agent'))}: {esc(st.agent.name)}</p>"
        more = "-" + how
    if "premium" not in st.extras and st.r.random() < .5:
        body += f"<p class=s>{esc(st.foot(p))}</p>"
    body += "".join(f"<p class=s>{esc(x)}</p>" for x in st.boiler(p))
    css = BASE.format(page=st.r.choice(["letter", "letter", "letter", "A4", "letter landscape"]), margin=st.r.choice(["1.4cm 1.8cm", "2cm", "1.6cm 2.2cm"]), boxes=margin, size=st.size, tone=st.tone) + css
    st.layout = f"weasyprint {head.__name__}{more}, insurer {st.place}"
    return weasy(body, css)


def several(st, ps, how):
    """Policies as columns or as rows of one table."""
    eff, exp = st.dates()
    facts = [(st.lab("insurer"), [p.ins.name for p in ps]), (st.lab("policy"), [p.no for p in ps]), (eff, [st.d(p.eff) for p in ps]), (exp, [st.d(p.exp) for p in ps]),
             (st.lab("coverage"), ["; ".join(st.words(c) for c in p.covs) for p in ps]), (st.lab("limit"), ["; ".join(st.limit(c) for c in p.covs) for p in ps]),
             (st.lab("ded"), ["; ".join(st.ded(c) for c in p.covs) for p in ps])]
    if all("naic" in p.show for p in ps):
        facts.insert(1, (st.lab("naic"), [p.ins.naic for p in ps]))
    else:
        for p in ps:
            p.show.discard("naic")
    if how == "columns":
        return "<table class=grid>" + "".join(f"<tr><th>{esc(a)}</th>" + "".join(f"<td>{esc(x)}</td>" for x in b) + "</tr>" for a, b in facts) + "</table>"
    return table(st, [a for a, _ in facts], [[b[i] for _, b in facts] for i in range(len(ps))], "grid")


# ---------------------------------------------------------------- files that are no PDF
def html_file(st, ps):
    """An HTML file as a portal saves it."""
    st.place = "label"
    out = ""
    for i, p in enumerate(ps):
        F = st.facts(p)
        if st.r.random() < .5:
            out += "<dl>" + "".join(f"<dt>{esc(a)}</dt><dd>{lines(b)}</dd>" for a, b in F) + "</dl>"
        else:
            out += "<table>" + "".join(f"<tr><th align=left>{esc(a)}</th><td>{lines(b)}</td></tr>" for a, b in F) + "</table>"
        out += table(st, *st.cov_table(p)) + extras(st, p)
    out += "".join(f"<p><small>{esc(x)}</small></p>" for x in st.boiler(ps[0]))
    st.layout = "html file"
    return f"<!doctype html><html><head><meta charset=utf-8><title>{esc(st.lab('title'))}</title><style>dt{{color:#666}}</style></head><body><p><a href='#'>Home</a> | <a href='#'>Billing</a> | <a href='#'>Log out</a></p><h2>{esc(st.lab('title'))}</h2>{out}</body></html>".encode()


def text_file(st, ps):
    """Plain text with rules and columns of spaces."""
    st.place = "label"
    w, rule = 78, st.r.choice("-=*~_")
    out = [st.lab("title").center(w).rstrip(), rule * w]
    pad = st.r.choice([" ", ".", " "])
    for p in ps:
        for a, b in st.facts(p):
            b = [x for x in b if x]
            out.append(f"{a + st.colon + ' ':{pad}<34} {b[0]}")
            out += [" " * 35 + x for x in b[1:]]
        head, body = st.cov_table(p)
        out += ["", *columns_of(head, body), ""]
        if p.veh:
            out += [st.lab("hvehicles"), *columns_of(*st.veh_table(p.veh)), ""]
        if p.drv:
            out += [st.lab("hdrivers"), *columns_of(*st.drv_table(p.drv)), ""]
        out.append(rule * w)
    out += st.boiler(ps[0])
    st.layout = "text file"
    return "\r\n".join(out).encode("utf-8")


def columns_of(head, body):
    """Rows as columns of spaces."""
    size = [max(len(str(r[i])) for r in [head] + body) + 2 for i in range(len(head))]
    return ["".join(f"{str(c):<{n}}" for c, n in zip(r, size)).rstrip() for r in [head] + body]
