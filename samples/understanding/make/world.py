"""The world of one seed: agency, insurers, companies, people, policies, claims.

Promise: the same seed gives the same world, no two companies share a first word, a DOT or an MC number,
and all domains end in .example, all telephones are 555-01xx.
"""
import random
import re
import unicodedata
import zlib

import pools as W
from values import *

VERSION = 1
KINDS = ("auto_liability", "physical_damage", "motor_truck_cargo", "general_liability", "um_uim", "med_pay", "trailer_interchange",
         "non_trucking_liability", "umbrella", "workers_compensation")
REQUIRED_LIMIT = ("auto_liability", "motor_truck_cargo", "general_liability")


def slug(s):
    s = "".join(c for c in unicodedata.normalize("NFKD", s) if not unicodedata.combining(c)).lower()
    return re.sub(r"[^a-z0-9]+", "", s)


class Thing:
    def __init__(s, **k):
        s.__dict__.update(k)


class Office(Thing):
    """An agency, a broker, a wholesaler: name, domain, street, city, phone, fax, people [(name, mail)]."""


class Company(Thing):
    """An insured: name, short, street, city, contact, mail, role, phone, dot, mc, fein, lang, dba."""
    @property
    def addr(s):
        return f"{s.street}, {s.city}"

    @property
    def state(s):
        return s.city.split(", ")[1][:2]

    @property
    def first(s):
        return s.contact.split()[0]


class Policy(Thing):
    """ins, ent, no, eff, exp, covs, veh, drv [(name, licence)], show: what of the insured a paper prints."""


class Cov(Thing):
    """kind, limit, ded, second: an aggregate or the like beside the limit."""


class World:
    def __init__(s, seed):
        s.seed = seed
        s.used = set()
        r = s.rng("world")
        s.r = r
        s.base = shift("2026-01-05", r.randrange(0, 90))
        s.firsts = r.sample(W.FIRST, len(W.FIRST))
        s.things = r.sample(W.THINGS, len(W.THINGS))
        s.offices = r.sample(W.OFFICE_NAME, len(W.OFFICE_NAME))
        s.agency = s.office(r, kind=r.choice([k for k in W.OFFICE if k != "Wholesale Brokerage"]))
        s.agency.box = r.choice(["submissions", "office", "service", "info", "intake", "team"]) + "@" + s.agency.domain
        s.insurers = [s.insurer(r, stem) for stem in r.sample(W.INSURER, r.randrange(10, 15))]
        s.wholesale = s.office(r, kind="Wholesale Brokerage")
        s.layouts, s.decks = {}, {}
        s.clients, s.open, s.tokens = [], [], {}   # insureds known; loss-run requests that mails made; tokens that replies use

    def rng(s, *key):
        return random.Random("/".join(map(str, ("kybern mails", VERSION, s.seed) + key)))

    def word(s, pool, source):
        """The next unused word of a pool; when it is empty, new words are put together."""
        if not pool:
            pool.extend(s.r.sample([f"{x}{end}" for x in source if x.isalpha() for end in ("ton", "ford", "field", "mont")], len(source)))
        return pool.pop()

    def first(s):
        return s.word(s.firsts, W.FIRST)

    def office_word(s):
        return s.word(s.offices, W.OFFICE_NAME)

    def once(s, make):
        for _ in range(500):
            v = make()
            if v not in s.used:
                s.used.add(v)
                return v
        raise ValueError("no new value")

    def deal(s, deck):
        """The next of a shuffled deck, so that all of it is used before anything comes twice."""
        have = s.decks.setdefault(id(deck), [])
        if not have:
            have.extend(s.r.sample(deck, len(deck)))
        return have.pop()

    def ins(s, r, n=1):
        """Insurers, the less used first."""
        pick = sorted(s.insurers, key=lambda i: (i.__dict__.setdefault("uses", 0), r.random()))[:n + 3]
        out = r.sample(pick, n)
        for i in out:
            i.uses += 1
        return out

    def phone(s, r, area=None):
        """A telephone in one of several spellings; ten digits are unique."""
        area = area or r.choice([a for a in W.STATES.values()]).split()[1]

        def make():
            return f"{area}-555-01{r.randrange(100):02d}"
        try:
            n = s.once(make)
        except ValueError:
            n = s.once(lambda: f"{r.randrange(201, 989)}-555-01{r.randrange(100):02d}")
        a, b, c = n.split("-")
        return r.choice([f"({a}) {b}-{c}"] * 3 + [n, n, f"{a}.{b}.{c}", f"{a} {b} {c}", f"+1 {a}-{b}-{c}", f"1-{a}-{b}-{c}", f"({a}){b}-{c}"])

    def person(s, r, lang="en"):
        lang = lang if lang in W.GIVEN else "en"
        return s.once(lambda: f"{r.choice(W.GIVEN[lang])} {r.choice(W.FAMILY[lang])}")

    def place(s, r, state=None):
        state = state or r.choice(list(W.STATES))
        z, area = W.STATES[state].split()
        street = f"{r.choice([r.randrange(1, 99), r.randrange(100, 9999)])} {r.choice(W.STREETS)}"
        if r.random() < .2:
            street += r.choice([", Suite ", " Ste ", ", Unit ", ", Bldg "]) + r.choice(["2", "4B", "110", "C", "300"])
        elif r.random() < .1:
            street = f"{r.choice(['P.O. Box', 'PO Box'])} {r.randrange(10, 9900)}"
        return street, f"{r.choice(W.TOWNS)}, {state} {z}9{r.randrange(100):02d}", area

    def office(s, r, kind=None):
        word = s.office_word()
        kind = kind or r.choice(W.OFFICE)
        street, city, area = s.place(r)
        dom = slug(word) + slug(kind.split()[0])[:6] + ".example"
        people = []
        for _ in range(2):
            n = s.person(r)
            people.append((n, r.choice([slug(n.split()[0][0]) + slug(n.split()[1]), slug(n.split()[0]), slug(n.split()[0]) + "." + slug(n.split()[1])]) + "@" + dom))
        if people[0][1] == people[1][1]:
            people[1] = (people[1][0], "desk@" + dom)
        return Office(name=f"{word} {kind}", domain=dom, street=street, city=city, phone=s.phone(r, area), fax=s.phone(r, area), people=people, who=people[0][0], mail=people[0][1])

    def insurer(s, r, stem):
        stem = stem.replace("-", " ") if r.random() < .3 else stem
        name = f"{stem} {r.choice(W.INSURER_KIND)}"
        street, city, area = s.place(r)
        letters = "".join(w[0] for w in re.findall(r"[A-Z]\w+", name))[:3]
        letters = letters if len(letters) > 1 and r.random() < .6 else stem[:3].upper()
        shape = r.choice(["{p}-{l}-999999", "{p}{l} 9999999", "{p}{l}9999999-99", "{p} 999 99 99 999", "99-{p}-99999-9", "{p}/{l}/99999-99", "{l}{p}99999999", "9{l} 999999 99",
                          "{p}-99-99999", "99 {l} {p} 9999-9A", "{p}A9999-9999{l}", "9999999-99", "{p}{l}-0099999-YY", "TR9999999{l}"])
        return Thing(name=name, short=stem, naic=s.once(lambda: str(r.randrange(50011, 99989))), domain=slug(stem) + r.choice(["", "ins", "group", "mutual"]) + ".example",
                     home=f"{street}, {city}", phone=s.phone(r, area), letters=letters, shape=shape, key=letters + slug(stem)[:4].upper())

    def number(s, r, ins, line, eff):
        code = {"auto_liability": ["CA", "AL", "TRK", "BAP"], "physical_damage": ["PD", "APD"], "motor_truck_cargo": ["MTC", "IM", "CRG"], "general_liability": ["GL", "CGL"],
                "umbrella": ["UMB", "XS"], "workers_compensation": ["WC"], "non_trucking_liability": ["NTL", "BT"]}.get(line, ["CP"])

        def make():
            v = ins.shape.replace("{p}", ins.letters).replace("{l}", code[zlib.crc32(ins.name.encode()) % len(code)]).replace("YY", eff[2:4])
            return "".join(str(r.randrange(10)) if c == "9" else c for c in v)
        return s.once(make)

    def company(s, r, lang="en", state=None, person=False):
        street, city, area = s.place(r, state or {"es": r.choice(["TX", "AZ", "CA", "NM"]), "fr": r.choice(["NY", "LA", "MI"])}.get(lang))
        contact = s.person(r, lang if r.random() < .85 else "en")
        dba = None
        if lang == "es" and r.random() < .75:
            mid = s.once(lambda: r.choice(W.ES_SECOND))
            head = r.choice(W.ES_NAMES)
            name, short = f"{head} {mid} {r.choice(W.ES_FORMS)}", f"{head} {mid}"
        elif lang == "fr" and r.random() < .8:
            mid = s.once(lambda: r.choice(W.FR_SECOND))
            head = r.choice(W.FR_NAMES)
            name, short = f"{head} {mid} {r.choice(W.FR_FORMS)}", f"{head} {mid}"
            city = f"{r.choice(['Saint-Aubert', 'Val-Perdu', 'Sainte-Odette', 'Rivière-Noire'])}, QC J{r.randrange(1, 9)}{r.choice('ABEHKLM')} 9{r.choice('ABEHX')}{r.randrange(1, 9)}"
            street, area = f"{r.randrange(10, 990)}, {r.choice(['rang du Moulin', 'chemin de la Scierie', 'rue des Forges', 'boulevard du Quai'])}", "819"
        elif lang == "de" and r.random() < .8:
            head = s.once(lambda: r.choice(W.DE_NAMES))
            name = f"{head} {r.choice(W.DE_SECOND)}"
            name, short = f"{name} {r.choice(W.DE_FORMS)}", name
        else:
            head = s.first()
            second = r.choice(W.SECOND + [""] * 8)
            short = f"{head} {second} {r.choice(W.TRADE)}".replace("  ", " ")
            form = r.choice(W.FORMS)
            name = f"{short}{'' if form[:1] in (',', '') else ' '}{form}"
            if person:
                dba = short
                name = f"{contact} {r.choice(['DBA', 'dba', 'd/b/a', 'D/B/A'])} {short}"
        dom = slug(short.split()[0] + "".join(short.split()[1:3]))[:22] + ".example"
        if person and r.random() < .6:
            dom = "mailbox.example"
            mail = slug(short)[:18] + str(r.randrange(10, 99)) + "@" + dom
        else:
            f, l = slug(contact.split()[0]), slug(contact.split()[1])
            mail = r.choice([f, f[0] + l, f"{f}.{l}", "office", "dispatch", f + l[0]]) + "@" + dom
        return Company(name=name, short=short, dba=dba, street=street, city=city, contact=contact, mail=mail, lang=lang, phone=s.phone(r, area), area=area,
                       role=r.choice(W.ROLES.get(lang, W.ROLES["en"])), fein=f"00-{r.randrange(1000000, 9999999)}",
                       dot=s.once(lambda: str(r.choice([r.randrange(5000011, 9999989), r.randrange(5000011, 9999989), r.randrange(800011, 989989)]))),
                       mc=s.once(lambda: str(r.choice([r.randrange(2000011, 3999989), r.randrange(700011, 999989)]))))

    def business(s, r):
        """A customer, a shipper, a holder: name, street, city."""
        thing = s.word(s.things, W.THINGS)
        street, city, _ = s.place(r)
        return Thing(name=f"{thing} {r.choice(W.BUSINESS)}", street=street, city=city, addr=f"{street}, {city}", domain=slug(thing) + ".example")

    def bank(s, r):
        thing = s.word(s.things, W.THINGS)
        street, city, _ = s.place(r)
        return Thing(name=f"{thing} {r.choice(W.BANK)}", street=street, city=city, addr=f"{street}, {city}")

    def cov(s, r, kind):
        pick = {"auto_liability": ([1000000] * 5 + [750000, 2000000, 5000000], [None] * 4 + [1000, 2500]), "motor_truck_cargo": ([100000] * 3 + [50000, 75000, 150000, 200000, 250000, 500000], [1000, 2500, 2500, 5000]),
                "general_liability": ([1000000] * 3 + [500000, 2000000], [None] * 3 + [500]), "um_uim": ([30000, 50000, 60000, 85000, 100000], [None]), "med_pay": ([5000, 10000], [None]),
                "trailer_interchange": ([20000, 25000, 40000, 50000], [1000, 2500]), "non_trucking_liability": ([1000000, 500000], [None]),
                "umbrella": ([1000000, 3000000, 4000000, 5000000], [None, 10000]), "workers_compensation": ([500000, 1000000, 100000], [None]),
                "physical_damage": ([r.randrange(60, 1500) * 1000 + r.choice([0, 250, 500])], [1000, 2500, 3000, 5000])}[kind]
        limit = r.choice(pick[0])
        return Cov(kind=kind, limit=limit, ded=r.choice(pick[1]), second=limit * 2 if kind == "general_liability" and r.random() < .6 else None)

    def policy(s, r, ent, ins, lines=None, today=None, eff=None, show=None, units=None, drivers=None):
        """A policy of one insurer; lines: kinds of coverage."""
        today = today or s.base
        eff = eff or shift(today, -r.choice([r.randrange(40, 345), r.randrange(300, 350)]))
        lines = lines or r.choice([["auto_liability"], ["auto_liability", "motor_truck_cargo"], ["auto_liability", "physical_damage"],
                                   ["auto_liability", "um_uim", "physical_damage", "motor_truck_cargo"], ["auto_liability", "general_liability"], ["auto_liability", "trailer_interchange", "med_pay"],
                                   ["motor_truck_cargo"], ["physical_damage"], ["general_liability"], ["auto_liability", "physical_damage", "trailer_interchange", "um_uim", "motor_truck_cargo"]])
        exp = plus_year(eff) if r.random() < .93 else shift(eff, r.choice([182, 181]))
        auto = {"auto_liability", "physical_damage"} & set(lines)
        n = units if units is not None else (r.choice([1, 2, 2, 3, 3, 4, 5, 7]) if auto and r.random() < .8 else 0)
        d = drivers if drivers is not None else (r.choice([1, 2, 3]) if auto and r.random() < .35 else 0)
        drv = [(s.person(r, ent.lang if r.random() < .5 else "en"), s.licence(r, ent.state)) for _ in range(d)]
        if show is None:
            show = {"addr", "naic"} | ({"dot"} if r.random() < .75 else set()) | ({"mc"} if r.random() < .55 else set())
            show -= {"naic"} if r.random() < .25 else set()
        return Policy(ins=ins, ent=ent, no=s.number(r, ins, lines[0], eff), eff=eff, exp=exp, covs=[s.cov(r, k) for k in lines], veh=fleet(r, n, r.choice(["TTR", "TR", "T", "L", "TTRL"])), drv=drv,
                      show=show, premium=r.randrange(4200, 98000))

    def licence(s, r, state):
        state = state if len(state) == 2 and state != "QC" else "TX"
        return s.once(lambda: f"{state} {r.choice([str(r.randrange(10000000, 99999999)), 'D' + str(r.randrange(1000000, 9999999)), r.choice('ABCGHM') + str(r.randrange(10**11, 10**12 - 1))])}")

    def claims(s, r, terms, n, lines=("AL", "PD", "MTC")):
        """Claims over terms [(policy, eff, exp, valued)]: number, date, text, paid, reserve, total, status."""
        out, prefix = [], r.choice(["", "CL-", "26-", f"{r.choice('ABCDEF')}{r.randrange(10)}", "00", "T/"])
        for i in range(n):
            t = terms[i * len(terms) // n]
            end = min((day(t[2]) - day(t[1])).days, (day(t[3]) - day(t[1])).days) - 2
            op = r.random() < (.45 if t is terms[-1] else .12)
            paid = round(r.uniform(0, 4000) if op else r.uniform(350, 46000), r.choice([0, 2, 2]))
            res = round(r.uniform(4000, 88000), r.choice([0, 2])) if op else 0.0
            if not op and r.random() < .12:
                paid = 0.0
            out.append(dict(no=s.once(lambda: prefix + str(r.randrange(100000, 99999999))), date=shift(t[1], r.randrange(1, max(2, end))), line=r.choice(lines), text=r.choice(CAUSES), paid=float(paid), res=float(res),
                            tot=round(paid + res, 2), st="Open" if op else "Closed", term=t, person=r.choice(W.FAMILY["en"]).upper()))
        return out


CAUSES = ["IV sideswiped OV while merging", "IV struck overhead line at job site", "Claimant alleges neck injury, low speed contact", "Hail damage to hood and windshield", "Cargo shifted in turn, 3 pallets damaged",
          "Animal collision", "OV ran stop sign and hit trailer", "Backed into dock door", "Fire in sleeper compartment", "Trailer stolen from drop lot", "Water damage to freight, door seal", "Tire blowout damaged following vehicle",
          "Jackknife on wet ramp", "Hit parked vehicle in truck stop", "Glass only", "Unsecured chain damaged windshield of OV", "Rolled over on soft shoulder", "Temperature claim, load rejected by consignee"]
