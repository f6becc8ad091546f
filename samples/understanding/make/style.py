"""The style of one paper: which words, dates, money and order it uses. Layouts ask the style and choose nothing themselves.

Promise: `facts` prints all that `Truth.policy` claims about a policy, and names in `noise` what it prints beside
it that belongs to somebody else.
"""
from values import *

L = {  # labels by field and language
    "en": {
        "policy": ["Policy Number", "Policy No.", "Policy No", "Policy #", "Pol. No.", "Policy ID", "Contract Number", "Your policy number", "Certificate / Policy Number", "Policy", "Document number (policy)", "POLICY NBR", "Insurance Policy No."],
        "eff": ["Effective Date", "Effective", "Eff. Date", "Policy Effective", "From", "Inception Date", "Inception", "Start Date", "Begins", "Coverage Begins", "Commencing", "Policy Start", "Valid from", "Period From"],
        "exp": ["Expiration Date", "Expiration", "Exp. Date", "Policy Expiration", "To", "Expiry Date", "Expires", "End Date", "Ends", "Coverage Ends", "Expiring", "Policy End", "Valid to", "Period To"],
        "term": ["Policy Period", "Policy Term", "Term", "Coverage Period", "Period of Insurance", "Policy Dates", "Effective / Expiration", "Policy period (12:01 a.m.)", "Term of Policy", "Coverage Dates", "In force"],
        "insured": ["Named Insured", "Insured", "Name of Insured", "First Named Insured", "Insured Name", "Policyholder", "Named Insured and Address", "Insured's Name", "Issued To", "Customer", "Assured", "Member", "Account Name"],
        "address": ["Mailing Address", "Address", "Insured Address", "Street Address", "Principal Place of Business", "Location", "Garaging Address", "Address of Insured", "Mail to"],
        "dot": ["USDOT Number", "USDOT No.", "US DOT #", "DOT Number", "DOT #", "DOT No.", "USDOT", "U.S. DOT", "FMCSA DOT Number", "Federal DOT No."],
        "mc": ["MC Number", "MC #", "MC No.", "Docket Number (MC)", "MC Docket", "FMCSA MC Number", "ICC MC No.", "Motor Carrier (MC) No.", "MC"],
        "ids": ["DOT / MC", "USDOT / MC Numbers", "Federal Filings", "FMCSA Registration", "Authority"],
        "naic": ["NAIC", "NAIC No.", "NAIC Code", "NAIC #", "Company NAIC", "NAIC Company Code", "NAIC Co. No."],
        "insurer": ["Insurance Company", "Insurer", "Company", "Carrier", "Insurance Carrier", "Issuing Company", "Underwritten by", "Underwriting Company", "Writing Company", "Coverage provided by", "Issued by", "Company Affording Coverage", "Insuring Company"],
        "agent": ["Agent", "Producer", "Agency", "Agent of Record", "Producer Name", "Agent/Broker", "Your agent", "Servicing Agent", "Agency Name and Address", "Broker"],
        "premium": ["Total Premium", "Annual Premium", "Premium", "Policy Premium", "Estimated Premium", "Deposit Premium", "Total Cost"],
        "form": ["Form of Business", "Entity Type", "Business Type", "Legal Entity"],
        "issued": ["Issue Date", "Date Issued", "Printed", "Date Prepared", "Processing Date", "Run Date"],
        "account": ["Account Number", "Account #", "Customer No.", "Client ID", "Bill Account"],
        "prior": ["Renewal of", "Replaces", "Prior Policy No.", "Previous Policy Number", "Renews Policy"],
        "coverage": ["Coverage", "Coverages", "Line of Business", "Type of Insurance", "Coverage Part", "Description of Coverage", "Insurance Provided", "Line", "Coverage Form"],
        "limit": ["Limit", "Limits", "Limit of Liability", "Limit of Insurance", "Amount", "Limits of Liability", "Our limit", "Maximum we pay", "Sum Insured"],
        "ded": ["Deductible", "Ded.", "Ded", "Deductible Amount", "Your deductible", "Retention", "Less deductible of"],
        "prem": ["Premium", "Prem.", "Annual Prem", "Cost", "Charge"],
        "year": ["Year", "Yr", "Model Year", "Yr."], "make": ["Make", "Trade Name", "Manufacturer", "Make"], "model": ["Model", "Model", "Series"], "mm": ["Make / Model", "Description", "Vehicle", "Year Make Model", "Unit Description"],
        "vin": ["VIN", "VIN", "Vehicle Identification Number", "Serial Number", "V.I.N.", "VIN / Serial No.", "Identification Number", "VIN Number", "Serial No. (VIN)"],
        "unit": ["Unit", "Unit #", "Veh", "No.", "Item", "Veh. No.", "Auto No."], "value": ["Stated Amount", "Stated Value", "Value", "ACV", "Insured Value", "Cost New", "Limit of Insurance"], "body": ["Type", "Body Type", "Class", "Veh Type"],
        "driver": ["Driver", "Driver Name", "Name", "Operator", "Operator Name", "Name of Driver", "Employee"], "license": ["License No.", "License Number", "DL #", "CDL Number", "Driver License", "Lic. No.", "License #", "OLN"],
        "hvehicles": ["Schedule of Covered Autos", "Scheduled Vehicles", "Vehicle Schedule", "Covered Autos You Own", "Equipment List", "Description of Vehicles", "Units", "Power Units and Trailers"],
        "hdrivers": ["Driver Schedule", "Scheduled Drivers", "Listed Drivers", "Drivers", "Operators on file", "Rated Drivers"],
        "hcover": ["Coverages and Limits", "Schedule of Coverages", "Coverage Summary", "Limits of Insurance", "Insurance Provided", "What this policy covers"],
        "title": ["Commercial Auto Declarations", "Business Auto Coverage Declarations", "Common Policy Declarations", "Declarations Page", "Motor Carrier Coverage Form Declarations", "Policy Declarations", "Renewal Declaration", "Certificate of Declarations",
                  "Trucking Policy Declarations", "Policy Summary", "Amended Declarations", "Declarations", "Insurance Policy Information Page"],
        "holder": ["Certificate Holder", "Holder", "Issued to (holder)", "Certificate issued to", "Certificate Holder and Address"],
    },
    "es": {
        "policy": ["Número de póliza", "No. de póliza", "Póliza", "Póliza No."], "eff": ["Vigente desde", "Fecha de inicio", "Desde", "Inicio de vigencia"], "exp": ["Vigente hasta", "Fecha de vencimiento", "Hasta", "Fin de vigencia"],
        "term": ["Vigencia", "Período de cobertura", "Vigencia de la póliza"], "insured": ["Asegurado", "Nombre del asegurado", "Titular de la póliza", "Asegurado nombrado"], "address": ["Domicilio", "Dirección", "Dirección postal"],
        "dot": ["Número USDOT", "No. DOT", "USDOT"], "mc": ["Número MC", "No. MC", "MC"], "ids": ["DOT / MC"], "naic": ["NAIC", "Código NAIC"], "insurer": ["Aseguradora", "Compañía de seguros", "Compañía aseguradora"], "agent": ["Agente", "Agencia", "Productor"],
        "premium": ["Prima total", "Prima anual"], "coverage": ["Cobertura", "Coberturas"], "limit": ["Límite", "Suma asegurada"], "ded": ["Deducible"], "prem": ["Prima"], "vin": ["VIN", "Número de serie (VIN)"], "year": ["Año"], "make": ["Marca"], "model": ["Modelo"], "mm": ["Vehículo", "Unidad"],
        "driver": ["Chofer", "Conductor"], "license": ["Licencia", "No. de licencia"], "hvehicles": ["Unidades aseguradas", "Relación de vehículos"], "hdrivers": ["Choferes"], "hcover": ["Coberturas contratadas"], "title": ["Carátula de póliza", "Declaraciones de la póliza"], "unit": ["Unidad"], "value": ["Valor"], "body": ["Tipo"],
    },
    "fr": {
        "policy": ["Numéro de police", "Police n°", "N° de police", "Contrat n°"], "eff": ["Date d'effet", "En vigueur le", "Du", "Début"], "exp": ["Date d'échéance", "Expire le", "Au", "Fin"],
        "term": ["Période d'assurance", "Durée du contrat", "Période"], "insured": ["Assuré désigné", "Assuré", "Preneur d'assurance", "Titulaire"], "address": ["Adresse", "Adresse postale", "Siège"],
        "dot": ["N° USDOT", "Numéro DOT", "USDOT"], "mc": ["N° MC", "Numéro MC"], "ids": ["DOT / MC"], "naic": ["NAIC", "Code NAIC"], "insurer": ["Assureur", "Compagnie d'assurance", "Émis par"], "agent": ["Courtier", "Agent"],
        "premium": ["Prime annuelle", "Prime totale"], "coverage": ["Garantie", "Protection"], "limit": ["Montant de garantie", "Limite", "Plafond"], "ded": ["Franchise"], "prem": ["Prime"], "vin": ["NIV", "N° de série (NIV)", "NIV / VIN"], "year": ["Année"], "make": ["Marque"], "model": ["Modèle"], "mm": ["Véhicule"],
        "driver": ["Conducteur", "Chauffeur"], "license": ["Permis", "N° de permis"], "hvehicles": ["Véhicules désignés", "Liste des véhicules"], "hdrivers": ["Conducteurs"], "hcover": ["Garanties accordées", "Protections"], "title": ["Conditions particulières", "Déclarations"], "unit": ["Unité"], "value": ["Valeur"], "body": ["Genre"],
    },
}
COVER = {
    "en": {
        "auto_liability": ["Automobile Liability", "Commercial Auto Liability", "Auto Liability", "Business Auto Liability", "Liability - Owned, Hired & Non-Owned Autos", "Auto Liability (BI/PD)", "Primary Auto Liability", "Covered Autos Liability", "AL"],
        "physical_damage": ["Physical Damage", "Auto Physical Damage", "Physical Damage - Comp & Collision", "Comprehensive and Collision", "Physical Damage (Stated Amount)", "APD", "Phys. Damage"],
        "motor_truck_cargo": ["Motor Truck Cargo", "Cargo", "Motor Truck Cargo Legal Liability", "Truckers Cargo", "MTC", "Cargo Liability", "Inland Marine - Motor Truck Cargo"],
        "general_liability": ["General Liability", "Commercial General Liability", "CGL", "Trucking General Liability", "General Liab. (Occurrence)", "GL"],
        "um_uim": ["Uninsured Motorists", "Uninsured / Underinsured Motorists", "UM/UIM", "UM - Bodily Injury", "Uninsured Motorist BI"], "med_pay": ["Medical Payments", "Med Pay", "Auto Medical Payments"],
        "trailer_interchange": ["Trailer Interchange", "Trailer Interchange Liability", "Intermodal Interchange", "Trailer Interchange - Comp/Coll"],
        "non_trucking_liability": ["Non-Trucking Liability", "Bobtail Liability", "Non-Trucking Auto Liability"], "umbrella": ["Commercial Umbrella", "Excess Liability", "Umbrella Liability", "Follow Form Excess"],
        "workers_compensation": ["Workers Compensation", "Workers' Compensation & Employers Liability", "Workers Comp"]},
    "es": {"auto_liability": ["Responsabilidad civil automotriz", "Responsabilidad civil (Auto Liability)"], "physical_damage": ["Daños materiales (Physical Damage)"], "motor_truck_cargo": ["Carga (Motor Truck Cargo)", "Seguro de carga"],
           "general_liability": ["Responsabilidad general (General Liability)"]},
    "fr": {"auto_liability": ["Responsabilité civile automobile", "Automobile - responsabilité civile"], "physical_damage": ["Dommages aux véhicules (Physical Damage)"], "motor_truck_cargo": ["Marchandises (Cargo)", "Cargaison - Motor Truck Cargo"],
           "general_liability": ["Responsabilité générale (General Liability)"]},
}
SMALL = {
    "en": ["In return for the payment of the premium, and subject to all the terms of this policy, we agree with you to provide the insurance as stated in this policy.", "Forms and endorsements attached to this policy at inception: {forms}.",
           "Policy fee {fee}. Surplus lines tax {tax}. Minimum earned premium {pct}%.", "Payment plan: down payment {down}, then {n} installments of {rate}, the first due {a}.", "Report claims at any hour: {tel}.", "State and federal filings made: BMC-91X, Form E.",
           "Countersigned at {town} on {a}: ______________________", "Radius of operation: {miles} miles. Commodities: general freight, building materials, produce.", "Loss, if any, is payable as interest may appear to the named insured and {bank}.", "Business description: trucking for hire.",
           "We may cancel with 10 days notice for nonpayment and 30 days for any other reason.", "A renewal offer, if we make one, will be mailed on or about {b}.", "The premium may be adjusted after an audit. Audit period: annual.", "Blanket additional insured where required by written contract.",
           "THIS PAGE WITH THE POLICY JACKET AND FORMS COMPLETES THE ABOVE NUMBERED POLICY.", "Entries are optional if shown in the common declarations.", "Customer service {tel}, weekdays 8 to 6.", "Fraud warning: any person who knowingly presents a false claim may be guilty of a crime."],
    "es": ["La prima se paga en {n} mensualidades de {rate}.", "Formularios anexos: {forms}.", "Para reportar un siniestro llame al {tel}.", "Esta carátula forma parte de la póliza."],
    "fr": ["La prime est payable en {n} versements de {rate}.", "Avenants joints : {forms}.", "Pour déclarer un sinistre : {tel}.", "La présente page fait partie du contrat."]}
NOT_BOUGHT = ["Umbrella", "Pollution", "Employment Practices", "Cyber", "Rental Reimbursement", "Towing and Labor", "Hired Auto Physical Damage", "Terrorism", "Trailer Interchange", "General Liability"]


class Style:
    def __init__(s, r, lang="en", world=None):
        s.r, s.lang, s.world = r, lang, world
        s.bilingual = lang in ("es", "fr") and r.random() < .5
        s.case = r.choice(["as", "as", "as", "upper", "lower"]) if lang == "en" else "as"
        s.colon = r.choice([":", ":", "", "", " :", ":"])
        s.d = r.choice(DATES[lang])
        s.money = r.choice(["$", "$", "$", "plain", "cents", "usd"]) if lang != "fr" else "fr"
        s.term = r.choice(["two", "two", "two", "range", "range", "from", "cell", "hour"])
        s.place = r.choice(["label"] * 4 + ["head"] * 4 + ["foot", "side", "top"] * 2 + ["code"])
        s.join = r.choice([" - ", " to ", " – ", " through ", " / ", " thru "]) if lang == "en" else {"es": " al ", "fr": " au ", "de": " bis "}[lang]
        s.together = r.random() < .5
        s.labels, s.covs, s.noise, s.memo = {}, {}, dict(insured_name=[], contact_phone=[], policy_number=[]), {}
        s.tick = lang == "en" and r.random() < .22
        s.lastfirst = r.random() < .35
        s.size = r.choice([8, 8.5, 9, 9.5])
        s.tone = r.choice(["#1f3a5f", "#6b1d2a", "#2c5530", "#444444", "#000000", "#5a3e85", "#8a5a00", "#0b5c6b"])
        s.blank = r.choice(["-", "None", "N/A", "", "Nil"])
        s.agent = world.agency if r.random() < .45 else world.office(r) if r.random() < .6 else None
        s.extras = [x for x in ("premium", "form", "issued", "account", "prior") if r.random() < .35]
        s.layout = ""

    def lab(s, key):
        """The label of a field: chosen once for a paper."""
        if key not in s.labels:
            pool = L[s.lang].get(key) if s.lang in L else None
            v = s.r.choice(pool or L["en"][key])
            if s.bilingual and pool:
                en = s.r.choice(L["en"][key])
                v = s.r.choice([f"{v} / {en}", f"{en} ({v})", f"{en} / {v}"])
            s.labels[key] = {"upper": v.upper(), "lower": v.lower()}.get(s.case, v)
        return s.labels[key]

    def dates(s):
        """Labels of both dates as a pair that belongs together."""
        if "eff" not in s.labels:
            pool = L.get(s.lang, L["en"])
            pool = pool if "eff" in pool else L["en"]
            i = s.r.randrange(len(pool["eff"]))
            for k in ("eff", "exp"):
                v = pool[k][i]
                if s.bilingual:
                    v = f"{v} / {L['en'][k][i]}"
                s.labels[k] = {"upper": v.upper(), "lower": v.lower()}.get(s.case, v)
        return s.lab("eff"), s.lab("exp")

    def words(s, c):
        if c.kind not in s.covs:
            s.covs[c.kind] = s.r.choice(COVER.get(s.lang, {}).get(c.kind) or COVER["en"][c.kind])
        return s.covs[c.kind]

    def m(s, n):
        return {"$": f"${n:,.0f}", "plain": f"{n:,.0f}", "cents": f"${n:,.2f}", "usd": f"USD {n:,.0f}", "fr": f"{n:,.0f} $".replace(",", "\u00a0")}[s.money]

    def limit(s, c):
        v = s.m(c.limit)
        if c.second:
            return f"{v} / {s.m(c.second)}"
        tail = {"auto_liability": ["", "", " CSL", " each accident", " Combined Single Limit", " ea. acc."], "general_liability": ["", " each occurrence", " per occ."], "motor_truck_cargo": ["", "", " per vehicle", " any one loss", " per truck"],
                "um_uim": ["", " each person"], "physical_damage": ["", "", " total stated value"]}.get(c.kind, [""])
        if ("tail", c.kind) not in s.memo:
            s.memo[("tail", c.kind)] = s.r.choice(tail) if s.lang == "en" else ""
        return v + s.memo[("tail", c.kind)]

    def ded(s, c):
        return s.m(c.ded) if c.ded else s.blank

    def name(s, n):
        if s.lastfirst and n.count(" ") == 1:
            a, b = n.split()
            return f"{b}, {a}"
        return n

    # ------------------------------------------------------------ facts
    def term_facts(s, p):
        a, b = s.d(p.eff), s.d(p.exp)
        eff, exp = s.dates()
        if s.term == "two":
            return [(eff, [a]), (exp, [b])]
        if s.term == "hour":
            return [(eff, [f"{a} 12:01 AM"]), (exp, [f"{b} 12:01 AM"])]
        if s.term == "from":
            at = {"en": ("From", "to", "at 12:01 A.M. standard time"), "es": ("Desde", "hasta", "a las 12:01 a.m."), "fr": ("Du", "au", "à 0 h 01"), "de": ("Vom", "bis", "0:01 Uhr")}[s.lang]
            return [(s.lab("term"), [f"{at[0]} {a} {at[1]} {b}", at[2]])]
        return [(s.lab("term"), [a + s.join + b])]

    def naic_text(s, p):
        if "naic" not in p.show:
            return ""
        if "naic" not in s.memo:
            s.memo["naic"] = s.r.choice(["NAIC {}", "NAIC # {}", "(NAIC {})", "NAIC No. {}", "NAIC Company Code: {}", "NAIC Code {}", "Co. NAIC: {}"])
        return s.memo["naic"].format(p.ins.naic)

    def facts(s, p, insured=True, insurer=True, extras=True):
        """[(label, [lines])]: the head of a declarations page in the order of this style."""
        r, groups = s.r, []
        if insurer and s.place == "label":
            g = [(s.lab("insurer"), [p.ins.name])]
            if "naic" in p.show:
                g.append((s.lab("naic"), [p.ins.naic]))
            groups.append(g)
        if insurer and s.place == "code":
            groups.append([(s.lab("insurer"), [s.code(p)])])
        if s.term == "cell":
            groups.append([(f"{s.lab('policy')} / {s.lab('term')}", [p.no, f"{s.d(p.eff)}{s.join}{s.d(p.exp)}"])])
        else:
            groups.append([(s.lab("policy"), [p.no])] + s.term_facts(p))
        if insured:
            groups.append(s.insured_facts(p))
        if extras:
            groups += s.extra_facts(p)
        head, rest = groups[:1], groups[1:]
        if r.random() < .6:
            r.shuffle(rest)
        return [f for g in head + rest for f in g]

    def insured_facts(s, p):
        e, out = p.ent, []
        if s.together and "addr" in p.show:
            out.append((s.lab("insured"), [e.name, e.street, e.city]))
        else:
            out.append((s.lab("insured"), [e.name]))
            if "addr" in p.show:
                out.append((s.lab("address"), [e.street, e.city] if s.r.random() < .6 else [e.addr]))
        if {"dot", "mc"} <= p.show and s.r.random() < .3:
            out.append((s.lab("ids"), [f"USDOT {e.dot} / MC {e.mc}"]))
        else:
            if "dot" in p.show:
                out.append((s.lab("dot"), [e.dot]))
            if "mc" in p.show:
                out.append((s.lab("mc"), [s.r.choice(["", "MC-", "MC"]) + e.mc if "mc" in s.lab("mc").lower() else "MC-" + e.mc]))
        return out

    def extra_facts(s, p):
        out, r = [], s.r
        if s.agent:
            a = s.agent
            s.noise["insured_name"].append(a.name)
            s.noise["contact_phone"] += [a.phone]
            lines = [a.name] + ([a.street, a.city] if r.random() < .6 else [])
            out.append([(s.lab("agent"), lines + ([r.choice(["", "Tel ", "Phone: ", "Ph. "]) + a.phone] if r.random() < .8 else []))])
            if a.phone not in str(out):
                s.noise["contact_phone"].remove(a.phone)
        for x in s.extras:
            if x == "premium":
                out.append([(s.lab("premium"), [s.m(p.premium)])])
            elif x == "form":
                out.append([(s.lab("form"), [r.choice(["Corporation", "Limited Liability Co.", "Individual", "Partnership", "For-hire motor carrier"])])])
            elif x == "issued":
                out.append([(s.lab("issued"), [s.d(shift(p.eff, -r.randrange(3, 30)))])])
            elif x == "account":
                out.append([(s.lab("account"), [str(r.randrange(1000000, 99999999))])])
            elif x == "prior":
                old = s.world.number(r, p.ins, p.covs[0].kind, shift(p.eff, -365))
                s.noise["policy_number"].append(old)
                out.append([(s.lab("prior"), [old])])
            elif x == "binder":
                no = f"{r.choice(['BND', 'B', 'BD'])}-{r.randrange(10000, 999999)}"
                s.noise["policy_number"].append(no)
                out.append([(r.choice(["Binder No.", "Binder #", "Binder Number"]), [no])])
        return out

    def cov_table(s, p):
        """(head, rows) of the coverages; the order of columns and the noise in them by style."""
        if "covcols" not in s.memo:
            s.memo["covcols"] = s.r.choice([["c", "l", "d"], ["c", "l", "d", "p"], ["c", "d", "l"], ["c", "s", "l", "d"], ["l", "c", "d"], ["c", "l", "d"]])
        cols = s.memo["covcols"]
        head = {"c": s.lab("coverage"), "l": s.lab("limit"), "d": s.lab("ded"), "p": s.lab("prem"), "s": "Symbols"}
        rows = []
        for i, c in enumerate(p.covs):
            cell = {"c": s.words(c), "l": s.limit(c), "d": s.ded(c), "p": f"{p.premium // (i + 2) // 7:,}", "s": s.r.choice(["7", "7, 8, 9", "67", "71", "1", "46"])}
            rows.append([cell[k] for k in cols])
        return [head[k] for k in cols], rows

    def ticks(s, p):
        """[(words, limit, ticked)]: what is bought and, unticked, what is not."""
        have = {s.words(c).lower() for c in p.covs} | {c.kind.replace("_", " ") for c in p.covs}
        out = [(s.words(c), s.limit(c) + (f", {s.lab('ded')} {s.m(c.ded)}" if c.ded else ""), True) for c in p.covs]
        no = [x for x in NOT_BOUGHT if x.lower() not in " ".join(have)]
        for x in s.r.sample(no, 3):
            out.insert(s.r.randrange(len(out) + 1), (x, "", False))
        return out

    def veh_table(s, vehicles):
        if "vehcols" not in s.memo:
            s.memo["vehcols"] = s.r.choice([["unit", "year", "make", "model", "vin"], ["unit", "mm", "vin", "value"], ["year", "make", "vin"], ["vin", "year", "make", "model"], ["unit", "year", "make", "body", "vin", "value"],
                                            ["n", "year", "mm", "vin"], ["n", "vin", "mm", "value"], ["year", "make", "model", "body", "vin", "value"]])
        cols = s.memo["vehcols"]
        head = ["#" if k == "n" else s.lab(k) for k in cols]
        rows = []
        for i, v in enumerate(vehicles, 1):
            d = dict(v, n=str(i), mm=f"{v['year']} {v['make']} {v['model']}" if "year" not in cols else f"{v['make']} {v['model']}", value=s.m(v["value"]))
            rows.append([str(d[k]) for k in cols])
        return head, rows

    def drv_table(s, drivers):
        if "drvcols" not in s.memo:
            s.memo["drvcols"] = s.r.choice([["driver", "license"], ["n", "driver", "st", "license"], ["driver", "license", "hired"], ["license", "driver"]])
        cols = s.memo["drvcols"]
        head = [{"n": "#", "st": "State", "hired": "Yrs exp."}.get(k) or s.lab(k) for k in cols]
        rows = []
        for i, (n, lic) in enumerate(drivers, 1):
            d = dict(n=str(i), driver=s.name(n), st=lic[:2], license=lic[3:] if "st" in cols else lic, hired=str(s.r.randrange(1, 30)))
            rows.append([d[k] for k in cols])
        return head, rows

    def foot(s, p):
        """Noise for the foot of a page: form numbers, printed-on dates, pages."""
        r = s.r
        bits = [f"{r.choice(['Form', 'CA', 'TK', 'DEC'])} {r.randrange(10, 99)} {r.randrange(10, 99)} ({r.randrange(1, 13):02d}-{r.randrange(10, 25)})", f"{r.choice(['Printed', 'Rev.', 'Run'])} {s.d(shift(p.eff, -r.randrange(2, 20)))}",
                r.choice(["Insured copy", "Original", "Agent copy", "This page is part of your policy."]), "Page 1"]
        return "   ".join(r.sample(bits, r.randrange(1, 4)))

    @property
    def alone(s):
        """The insurer stands without a label somewhere outside the facts."""
        return s.place not in ("label", "code")

    def code(s, p):
        """The code that stands for the insurer; a line at the foot explains it, beside others that are not meant."""
        if "code" not in s.memo:
            others = s.r.sample([i for i in s.world.insurers if i is not p.ins], 2)
            codes = s.r.choice([s.r.sample(["01", "02", "03", "11", "23", "31"], 3), s.r.sample(["A", "B", "C", "D"], 3), [i.letters + s.r.choice("XZ") for i in [p.ins] + others]])
            entries = [f"{c} = {i.name}" + (f" ({s.naic_text(p)})" if i is p.ins and "naic" in p.show else "") for c, i in zip(codes, [p.ins] + others)]
            s.r.shuffle(entries)
            s.noise["carrier"] = [i.name for i in others]
            s.memo["code"], s.memo["codes"] = codes[0], "; ".join(entries) + "."
        return s.memo["code"]

    def boiler(s, p):
        """Paragraphs of small print: dates, amounts, telephones and names that are none of the policy's facts."""
        if "boiler" in s.memo:
            return s.memo["boiler"]
        r, out = s.r, []
        town, bank = p.ins.home.split(", ")[-2], None
        a, b = s.d(shift(p.eff, r.randrange(12, 40))), s.d(shift(p.exp, -r.randrange(30, 60)))
        code = lambda: f"{r.choice(['CA', 'MT', 'IL', 'TK', 'AU', 'SL'])} {r.randrange(10, 99)} {r.randrange(10, 99)} {r.randrange(1, 13):02d} {r.randrange(10, 25)}"
        pool = SMALL.get(s.lang, SMALL["en"])
        for x in r.sample(pool, min(len(pool), r.choice([0, 1, 2, 3, 4, 6]))):
            if "{bank}" in x:
                bank = s.world.bank(r).name
                s.noise["insured_name"].append(bank)
            if "{tel}" in x:
                s.noise["contact_phone"].append(p.ins.phone)
            out.append(x.format(town=town, bank=bank, a=a, b=b, tel=p.ins.phone, forms=", ".join(code() for _ in range(r.randrange(3, 9))), fee=f"${r.choice([75, 150, 250])}.00", tax=f"${r.randrange(40, 900)}.{r.randrange(10, 99)}",
                                down=f"${p.premium // 5:,}", rate=f"${p.premium // 11:,}", n=r.choice([8, 9, 10]), miles=r.choice(["0-50", "51-200", "201-500", "over 500"]), pct=r.choice([20, 25, 30])))
        if s.place == "code":
            s.code(p)
            out.append(s.memo["codes"])
        s.memo["boiler"] = out
        return out

    def interests(s, p):
        """A lienholder or additional interest: lines, or none."""
        if "int" not in s.memo:
            s.memo["int"] = []
            if p.veh and s.r.random() < .3:
                b = s.world.bank(s.r)
                s.noise["insured_name"].append(b.name)
                s.memo["int"] = [s.r.choice(["Loss Payee", "Lienholder", "Additional Interest", "Additional Insured - Lessor"]), b.name, b.street, b.city]
        return s.memo["int"]
