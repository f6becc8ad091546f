"""Declarations made with typst: tables, leaders, terms, blocks beside each other, and sentences."""
from produce import te, typ

FONTS = ["Libertinus Serif", "New Computer Modern", "DejaVu Sans Mono", "Libertinus Serif"]


BR = "\\"


def broken(v):
    """Lines with a typst line break between them."""
    return f" {BR} ".join(te(x) for x in v if x)


def cell(v):
    return f"[{broken(v)}]"


def h_table(st, F):
    stroke = st.r.choice(["0.4pt", "none", "(bottom: 0.4pt)", "0.6pt + gray"])
    return f"#table(columns: (auto, 1fr), stroke: {stroke}, inset: {st.r.choice(['4pt', '5pt', '3pt'])}, " + ", ".join(f"[{te(a)}{te(st.colon)}], {cell(b)}" for a, b in F) + ")\n"


def h_leaders(st, F):
    return "".join(f"{te(a)} #box(width: 1fr, repeat[{st.r.choice(['.', '.'])}]) {te(', '.join(x for x in b if x))} \\\n" for a, b in F)


def h_terms(st, F):
    return "".join(f"/ {te(a)}: {te(', '.join(x for x in b if x))}\n" for a, b in F)


def h_pairs(st, F):
    F = F + [("", [""])] * (len(F) % 2)
    cols = "auto, 1fr, auto, 1fr" if max(len(a) for a, _ in F) < 20 else "1.1fr, 1.4fr, 1.1fr, 1.4fr"
    return f"#grid(columns: ({cols}), gutter: 7pt, " + ", ".join(f"text(0.85em)[{te(a)}{te(st.colon if a else '')}], {cell(b) if any(b) else '[]'}" for a, b in F) + ")\n"


def h_small(st, F):
    """Boxes with a small label over the value."""
    n = st.r.choice([2, 3])
    return f"#table(columns: ({', '.join(['1fr'] * n)}), inset: 5pt, stroke: 0.5pt, " + ", ".join(f"[#text(6pt)[{te(a)}] {BR} {broken(b)}]" for a, b in F) + ")\n"


def h_blocks(st, F):
    half = -(-len(F) // 2)
    part = lambda G: "[" + "\n\n".join(f"*{te(a)}*{te(st.colon)} {broken(b)}" for a, b in G) + "]"
    return f"#grid(columns: (1fr, 1fr), gutter: 18pt, {part(F[:half])}, {part(F[half:])})\n"


HEADS = [h_table, h_leaders, h_terms, h_pairs, h_small, h_blocks]


def grid(st, head, rows):
    stroke = st.r.choice(["0.4pt", "none", "(bottom: 0.3pt)"])
    bold = st.r.random() < .7
    return f"#table(columns: {len(head)}, stroke: {stroke}, inset: 4pt, " + ", ".join(f"[{'*' if bold and h else ''}{te(h)}{'*' if bold and h else ''}]" for h in head) + ", " + ", ".join(f"[{te(c)}]" for r in rows for c in r) + ")\n"


def covers(st, p):
    if st.tick:
        return "".join(f"#box(stroke: 0.6pt, width: 8pt, height: 8pt, align(center + horizon, text(6pt)[{'X' if on else ''}])) {te(w)} {te(l)} \\\n" for w, l, on in st.ticks(p))
    if st.r.random() < .3:
        return "".join(f"{te(st.words(c))} #h(1fr) {te(st.limit(c))}{te(' / ' + st.lab('ded') + ' ' + st.m(c.ded)) if c.ded else ''} \\\n" for c in p.covs)
    return grid(st, *st.cov_table(p))


def units(st, p):
    out = ""
    if p.veh:
        out += f"\n== {te(st.lab('hvehicles'))}\n"
        out += grid(st, *st.veh_table(p.veh)) if st.r.random() < .65 else "".join(f"+ {v['year']} {te(v['make'])} {te(v['model'])} #h(1em) {te(st.lab('vin'))}: {v['vin']}\n" for v in p.veh)
    if p.drv:
        out += f"\n== {te(st.lab('hdrivers'))}\n" + grid(st, *st.drv_table(p.drv))
    if st.interests(p):
        out += "\n" + " \\ ".join(te(x) for x in st.interests(p)) + "\n"
    return out


def paper(st, ps):
    p = ps[0]
    if len({x.ins.name for x in ps}) > 1:
        st.place = "label"
    st.place = "head" if st.place == "side" else st.place
    name = te(p.ins.name + (f"  {st.naic_text(p)}" if "naic" in p.show else ""))
    extra = {"foot": f', footer: align(center, text(8pt)[{name}])', "top": f', header: align(right, text(8pt)[{name}])'}.get(st.place, "")
    s = f'#set page("{st.r.choice(["us-letter", "us-letter", "a4"])}", margin: {st.r.choice(["1.8cm", "2.2cm", "2.6cm"])}{extra})\n#set text({st.size + .5}pt, font: "{st.r.choice(FONTS)}")\n'
    if st.place == "head":
        s += f"#align({st.r.choice(['left', 'center', 'right'])})[#text(14pt)[*{te(p.ins.name)}*] \\ #text(8pt)[{te(p.ins.home)} {te(st.naic_text(p))}]]\n"
    head = st.r.choice(HEADS)
    s += f"= {te(st.lab('title'))}\n"
    for i, x in enumerate(ps):
        s += head(st, st.facts(x, insured=i == 0 or st.r.random() < .4, extras=i == 0)) + f"\n== {te(st.lab('hcover'))}\n" + covers(st, x) + units(st, x) + "\n"
    s += "".join(f"\n#text(7pt)[{te(x)}]\n" for x in st.boiler(p))
    if st.r.random() < .5:
        s += f"\n#v(1em)\n#text(7pt)[{te(st.foot(p))}]"
    st.layout = f"typst {head.__name__}, insurer {st.place}"
    return typ(s)


SENTENCES = {
    "en": ["{ins} of {home} insures {name}, {addr}, under policy {no} from {eff} until {exp}.", "This letter confirms that {name}, located at {addr}, holds policy number {no} issued by {ins}. The policy took effect on {eff} and runs through {exp}.",
           "By its contract no. {no}, {ins} ({home}) has agreed to insure {name} of {addr}. Coverage starts {eff} and ends {exp}, in both cases at 12:01 AM."],
    "es": ["{ins} asegura a {name}, con domicilio en {addr}, bajo la póliza número {no}, vigente del {eff} al {exp}."],
    "fr": ["{ins} assure {name}, {addr}, en vertu de la police n° {no}, du {eff} au {exp}."]}
COVERED = {"en": ["{c} is provided up to {l}{d}.", "The limit for {c} is {l}{d}.", "{c} applies with a limit of {l}{d}."], "es": ["La cobertura de {c} tiene un límite de {l}{d}."], "fr": ["La garantie {c} est de {l}{d}."]}
LESS = {"en": ", less a deductible of {}", "es": ", con deducible de {}", "fr": ", moins une franchise de {}"}


def narrative(st, ps):
    """A letter: all in sentences, no label, no table."""
    lang = st.lang if st.lang in SENTENCES else "en"
    title = {"en": st.r.choice(["Confirmation of coverage", "To whom it may concern", "Evidence of insurance"]), "es": "Constancia de seguro", "fr": "Attestation d'assurance"}[lang]
    s = f'#set page("us-letter", margin: 2.6cm)\n#set text(11pt, font: "Libertinus Serif")\n#set par(justify: true)\n*{te(title)}*\n\n'
    for p in ps:
        st.place = "sentence"
        p.show.add("addr")
        s += te(st.r.choice(SENTENCES[lang]).format(ins=p.ins.name, home=p.ins.home, name=p.ent.name, addr=p.ent.addr, no=p.no, eff=st.d(p.eff), exp=st.d(p.exp))) + " "
        if "naic" in p.show:
            s += te({"en": f"The NAIC code of the company is {p.ins.naic}.", "es": f"Código NAIC de la aseguradora: {p.ins.naic}.", "fr": f"Le code NAIC de l'assureur est {p.ins.naic}."}[lang]) + " "
        nums = [x for x in (f"USDOT {p.ent.dot}" if "dot" in p.show else "", f"MC {p.ent.mc}" if "mc" in p.show else "") if x]
        if nums:
            s += te({"en": "Federal registration: ", "es": "Registro federal: ", "fr": "Immatriculation fédérale : "}[lang] + ", ".join(nums) + ".") + " "
        s += "\n\n" + te(" ".join(st.r.choice(COVERED[lang]).format(c=st.words(c), l=st.limit(c), d=LESS[lang].format(st.m(c.ded)) if c.ded else "") for c in p.covs)) + "\n\n"
        if p.veh:
            s += te({"en": "The following equipment is covered: ", "es": "Unidades cubiertas: ", "fr": "Véhicules couverts : "}[lang] + "; ".join(f"{v['year']} {v['make']} {v['model']}, VIN {v['vin']}" for v in p.veh) + ".") + "\n\n"
        if p.drv:
            s += te({"en": "Drivers: ", "es": "Choferes: ", "fr": "Conducteurs : "}[lang] + "; ".join(f"{n} ({lic})" for n, lic in p.drv) + ".") + "\n\n"
    if st.agent:
        st.noise["insured_name"].append(st.agent.name)
        st.noise["contact_phone"].append(st.agent.phone)
        s += te(f"{st.agent.name}, {st.agent.phone}")
    st.layout = "typst sentences"
    return typ(s)
