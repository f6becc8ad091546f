"""Drivers, vehicles, compliance: driving records, lists, applications, registrations, medical cards, inspections, authority letters."""
from bodies import greet, insured_writer, letter
from mails_service import client
from produce import Draw, calm, docx, docx_table, esc, fpdf, latin, picture, sheet, te, typ, weasy, xlsx
from style import Style
from truth import Truth
from values import *

ND, VR, CU = "fleet.new_driver", "fleet.vehicle_registration", "fleet.compliance_update"
ADD = {"en": ["Please add the attached driver.", "New hire starting {d}, paperwork attached.", "Add to our driver list please, start date {d}.", "We hired somebody, starts {d}."], "es": ["Por favor agreguen a este chofer, empieza el {d}."], "fr": ["Veuillez ajouter ce chauffeur, début le {d}."]}


def makers(r, n):
    drivers, rest = [record, driver_list, application, driver_words], [registration, medical, inspection, authority]
    out = []
    while len(out) < n:
        out += r.sample(drivers, 2) + [registration] + r.sample(rest, 1)
    return out[:n]


def writer(e):
    wr = insured_writer(e)
    wr.org = e.name
    return wr


def record(w, r, n, d):
    """A new hire with a driving record."""
    e, nm = client(w, r), w.person(r)
    lic, start, exp, viol = w.licence(r, e.state), shift(d, r.randrange(1, 12)), shift(d, r.randrange(200, 1500)), shift(d, -r.randrange(100, 900))
    m = Truth(w, f"{n:03d}-driver-record.eml", "new hire with a driving record", ND, False, "record has name and number")
    name = r.choice(["mvr.pdf", f"{nm.split()[1]} MVR.pdf", "driving record.pdf", "abstract.pdf"])
    f = "att:" + name
    st = Style(r, "en", w)
    K = dict(nm=r.choice(["NAME", "Driver", "Subject", "Licensee"]), lic=r.choice(["LICENSE NO", "DL Number", "OLN", "License"]), exp=r.choice(["EXPIRES", "Expiration Date", "Exp"]), viol=r.choice(["VIOLATIONS", "Convictions", "History"]))
    L = [(K["nm"], st.name(nm)), (K["lic"], lic), ("Class", "A"), (K["exp"], st.d(exp)), ("Status", r.choice(["VALID", "Clear", "Licensed"])), (K["viol"], f"{st.d(viol)} {r.choice(['Speeding 1-10', 'Following too close', 'Improper lane change', 'Log book violation'])}")]
    if r.random() < .5:
        p = fpdf()
        p.add_page()
        p.set_font("Courier", "", 10)
        p.text(50, 50, f"{r.choice(['MOTOR VEHICLE RECORD', 'DRIVER ABSTRACT', 'COMMERCIAL DRIVING HISTORY'])} (FICTIONAL)")
        for i, (a, b) in enumerate(L):
            p.text(50, 80 + i * 15, latin(f"{a.upper():.<18} {b}"))
        data = calm(bytes(p.output()))
    else:
        data = weasy("<h3>Motor vehicle report</h3><table>" + "".join(f"<tr><td><small>{a}</small><br>{esc(b)}</td></tr>" for a, b in L) + "</table>", "body{font-size:10pt}")
    m.paper(name, "mvr", layout="driving record").F("insured_name", e.name, "signature").F("driver_name", nm, f).F("license_number", lic, f).F("license_expiry", exp, f).F("violation_date", viol, f, True).F("hire_date", start, "body")
    wr = writer(e)
    raw = letter(r, w, wr, d, r.choice(["new driver", f"New hire {nm}", "add driver"]), [r.choice([x for x in ADD["en"] if "{d}" in x]).format(d=r.choice([us, long_us])(start))], [(name, data)])
    wr.truth(m)
    m.agency().not_(claim_date=viol, contact_name=nm).R("driver", "created", insured=e.name, name=nm, license=lic)
    return m, raw


def driver_list(w, r, n, d):
    """Several drivers as XLSX, CSV, DOCX or PDF; those who left on another sheet."""
    e, k = client(w, r), r.choice([2, 3, 4, 6])
    D = [(w.person(r), w.licence(r, e.state), shift(d, -r.randrange(0, 20))) for _ in range(k)]
    gone = [w.person(r) for _ in range(2)]
    st = Style(r, "en", w)
    how = r.choice(["xlsx", "xlsx", "csv", "docx", "pdf"])
    name = r.choice(["drivers", "driver list", "New drivers", "roster"]) + "." + how
    f = "att:" + name
    m = Truth(w, f"{n:03d}-driver-list.eml", f"{k} new drivers in a list", ND, False, "clear")
    head = [st.lab("driver"), st.lab("license"), r.choice(["Hired", "Hire Date", "Start", "DOH"])]
    rows = [[st.name(a), b, st.d(c)] for a, b, c in D]
    o = r.choice([[0, 1, 2], [1, 0, 2], [2, 0, 1]])
    head, rows = [head[i] for i in o], [[x[i] for i in o] for x in rows]
    if how == "xlsx":
        sheets = {"Add": [head] + rows}
        if r.random() < .5:
            sheets["Terminated"] = [["Name", "Last day"]] + [[st.name(x), st.d(shift(d, -4))] for x in gone]
            m.not_(driver_name=gone if not st.lastfirst else [])
        data = xlsx(sheets)
    elif how == "csv":
        data = sheet([head] + rows, r.choice(",;\t"), r.choice(["utf-8", "cp1252"]))
    elif how == "docx":
        data = docx(lambda x: docx_table(x, [head] + rows))
    else:
        data = typ('#set page("us-letter")\n#set text(10pt, font: "Libertinus Serif")\n' + "#table(columns: 3, " + ", ".join(f"[{te(c)}]" for x in [head] + rows for c in x) + ")")
    m.t["not_fields"] = {x: v for x, v in m.t["not_fields"].items() if v}
    m.paper(name, "driver_list", layout=f"driver list {how}").F("insured_name", e.name, "signature")
    for a, b, c in D:
        m.F("driver_name", a, f).F("license_number", b, f).F("hire_date", c, f, True).R("driver", "created", insured=e.name, name=a, license=b)
    wr = writer(e)
    raw = letter(r, w, wr, d, r.choice(["driver changes", "new drivers", "Drivers to add"]), [r.choice(["Please add the drivers on the attached list.", "New drivers attached, add all of them.", "Updated list, these are the new ones."])], [(name, data)])
    wr.truth(m)
    m.agency()
    return m, raw


def application(w, r, n, d):
    """A driver's application; former employers are not the insured."""
    e, nm, born = client(w, r), w.person(r), shift("1975-01-01", r.randrange(0, 9000))
    lic, exp, old = w.licence(r, e.state), shift(d, r.randrange(200, 1500)), [w.first() + " Lines", w.first() + " Trucking"]
    m = Truth(w, f"{n:03d}-driver-application.eml", "driver's application with former employers", ND, False, "clear")
    name = r.choice(["application.pdf", f"{nm} application.pdf", "Driver app.pdf"])
    f = "att:" + name
    ssn = f"000-{r.randrange(10, 99)}-{r.randrange(1000, 9999)}"
    q = [(r.choice(["Company", "Motor carrier", "Employer applied to"]), e.name), (r.choice(["Applicant", "Full name", "Driver's name"]), nm), ("Date of birth", us(born)), ("SSN", ssn), (r.choice(["License", "CDL number", "License no."]), lic), (r.choice(["Expires", "License expiration"]), us(exp)), (r.choice(["Previous employer", "Past employment"]), ", ".join(old))]
    if r.random() < .5:
        data = typ('#set page("us-letter", margin: 2cm)\n#set text(10pt, font: "New Computer Modern")\n= Driver application\n#grid(columns: (1fr, 1fr), gutter: 10pt, ' + ", ".join(f"[#text(7pt)[{te(a)}] \\ {te(b)}]" for a, b in q) + ")")
    else:
        p = Draw(producer="HR Forms")
        p.t(50, 50, "DRIVER APPLICATION FOR EMPLOYMENT", "Helvetica-Bold", 12)
        for i, (a, b) in enumerate(q):
            p.t(50, 80 + i * 24, a + ":", z=9)
            p.t(210, 80 + i * 24, b, "Times-Roman", 11)
        data = p.done()
    m.paper(name, "driver_application", layout="driver application").F("insured_name", e.name, f).F("driver_name", nm, f).F("license_number", lic, f).F("license_expiry", exp, f)
    m.t["sensitive"] = [born, us(born), ssn]
    wr = writer(e)
    raw = letter(r, w, wr, d, r.choice(["driver application", "please add driver"]), [r.choice(["Application attached, please add to the policy.", "We want to put this driver on, ok?"])], [(name, data)])
    wr.truth(m)
    m.agency().not_(insured_name=old).R("driver", "created", insured=e.name, name=nm, license=lic)
    return m, raw


def driver_words(w, r, n, d):
    """A driver reported in the words of the mail."""
    lang = r.choices(["en", "es", "fr", "de"], [60, 20, 15, 5])[0]
    e, nm = client(w, r), w.person(r, lang)
    lic, start, exp = w.licence(r, e.state), shift(d, r.randrange(0, 9)), shift(d, r.randrange(200, 1500))
    m = Truth(w, f"{n:03d}-driver-words.eml", f"new driver in the words of the mail, {lang}", ND, False, "clear")
    f = {"en": r.choice([us, long_us]), "es": spanish, "fr": french, "de": german}[lang]
    t = {"en": r.choice(["New driver: {x}, CDL {l}, expires {e}, starting {d}.", "Please add {x} as of {d}. License {l}, good until {e}."]), "es": "Nuevo chofer {x}, licencia {l}, vence el {e}, empieza el {d}.", "fr": "Nouveau chauffeur : {x}, permis {l}, valide jusqu'au {e}, à partir du {d}.", "de": "Ab {d} fährt {x} für uns, CDL {l}, gültig bis {e}. Bitte in die Fahrerliste aufnehmen."}[lang].format(x=nm, l=lic, e=f(exp), d=f(start))
    wr = writer(e)
    wr.lang = lang
    raw = letter(r, w, wr, d, {"en": "new driver", "es": "Nuevo chofer", "fr": "Nouveau chauffeur", "de": "Neuer Fahrer"}[lang], greet(r, lang, w.agency.who.split()[0]) + [t])
    m.F("insured_name", e.name, "signature").F("driver_name", nm, "body").F("license_number", lic, "body").F("license_expiry", exp, "body").F("hire_date", start, "body")
    wr.truth(m)
    m.agency().R("driver", "created", insured=e.name, name=nm, license=lic)
    return m, raw


def registration(w, r, n, d):
    """Registration cards; the owner is a lessor."""
    e, vs, bank = client(w, r), fleet(r, r.choice([1, 2, 3]), "TR"), w.bank(r)
    a, b = shift(d, -r.randrange(5, 40)), shift(d, r.randrange(300, 360))
    m = Truth(w, f"{n:03d}-registration.eml", f"{len(vs)} registrations, the owner is a lessor", VR, False, "clear", ["insurance.service_request"])
    name = r.choice(["registration.pdf", "regs.pdf", "cab cards.pdf"])
    f = "att:" + name
    K = [r.choice(x) for x in (["PLATE", "License Plate", "TAG"], ["VIN", "VEHICLE ID NO", "Identification No."], ["EXPIRES", "Exp. date", "VALID THRU"], ["ISSUED", "Effective"], ["REGISTRANT", "Registered to", "Carrier responsible for safety"], ["OWNER", "Lessor / owner"])]
    q = Draw((540, 320), "Registry")
    for i, v in enumerate(vs):
        if i:
            q.page()
        q.m(270, 30, r.choice(["CERTIFICATE OF REGISTRATION", "APPORTIONED CAB CARD", "VEHICLE REGISTRATION"]) + " (fictional)", "Helvetica-Bold", 11)
        F = [(K[0], v["plate"]), ("YR / MAKE", f"{v['year']} {v['make'][:4].upper()}"), (K[1], v["vin"]), (K[3], us(a)), (K[2], us(b)), ("USDOT", e.dot)]
        for j, (x, y) in enumerate(F):
            q.t(30 + j % 3 * 170, 62 + j // 3 * 42, x, z=6)
            q.t(30 + j % 3 * 170, 76 + j // 3 * 42, y, "Courier-Bold", 9)
        for x, title, lines in ((30, K[4], [e.name, e.street, e.city]), (300, K[5], [bank.name, bank.city])):
            q.t(x, 160, title, z=6)
            for j, s in enumerate(lines):
                q.t(x, 175 + j * 12, s, "Courier", 9)
        m.vin(v["vin"], f).F("plate", v["plate"], f, True).R("vehicle", "created", insured=e.name, vin=v["vin"])
    m.paper(name, "registration", layout="registration cards").F("insured_name", e.name, f).F("dot_number", e.dot, f).F("address", e.addr, f, True).F("effective_date", a, f, True).F("expiry_date", b, f, True)
    wr = writer(e)
    raw = letter(r, w, wr, d, r.choice(["registrations", "new plates", "cab cards"]), [r.choice(["New registrations for your file.", "Registration attached for the new equipment.", "Renewed cab cards attached, please file."])], [(name, q.done())])
    wr.truth(m)
    m.agency().not_(insured_name=bank.name)
    return m, raw


def medical(w, r, n, d):
    """A renewed medical card as a photo; its dates also in the mail."""
    e, nm = client(w, r), w.person(r)
    a, b = shift(d, -r.randrange(1, 20)), shift(d, 700 + r.randrange(0, 30))
    m = Truth(w, f"{n:03d}-compliance-medical.eml", "medical card as a photo, dates in the mail", CU, "either", "dates stand in the mail; the photo needs OCR or a look")
    name, lic = r.choice(["medcard.jpg", "IMG_0881.jpg"]), w.licence(r, e.state)
    L = ["MEDICAL EXAMINER'S CERTIFICATE (FICTIONAL)", f"Driver {nm}", f"License {lic}", f"Examined {us(a)}", f"Expires {us(b)}"]
    m.paper(name, "medical_card", "ocr", text_in_picture=L).F("insured_name", e.name, "signature").F("driver_name", nm, "body").F("expiry_date", b, "body").F("effective_date", a, "picture:" + name, True).F("license_number", lic, "picture:" + name, True)
    wr = writer(e)
    raw = letter(r, w, wr, d, r.choice(["med card", "DOT physical", f"{nm} medical card"]), [r.choice(["{x} has a new medical card, good to {b}.", "Update the file please: medical card of {x} now expires {b}."]).format(x=nm, b=us(b))], [(name, picture(L, n, 640, 400, 20, 1.5, quality=30, noise=200))])
    wr.truth(m)
    m.agency().R("compliance_document", "created", insured=e.name, driver=nm, expires=b)
    return m, raw


def inspection(w, r, n, d):
    e, v = client(w, r), fleet(r, 1, r.choice("TR"))[0]
    a, b = shift(d, -r.randrange(1, 9)), shift(d, 355)
    m = Truth(w, f"{n:03d}-compliance-inspection.eml", "annual inspection with boxes", CU, False, "clear")
    name = r.choice(["annual inspection.pdf", f"unit {v['unit']} DOT.pdf", "inspection.pdf"])
    f = "att:" + name
    man = w.person(r)
    parts = r.sample(["brakes", "coupling", "exhaust", "lights", "steering", "suspension", "frame", "tires", "wheels", "glass", "mirrors", "wipers"], 9)
    data = weasy(f"<h3>{r.choice(['Annual vehicle inspection report', 'Periodic inspection'])}</h3><table><tr><td>Carrier<br>{esc(e.name)}<td>USDOT<br>{e.dot}</tr><tr><td>Unit {v['unit']}<br>{v['year']} {v['make']}<td>{r.choice(['VIN', 'Serial'])}<br>{v['vin']}</tr><tr><td>Inspected<br>{us(a)}<td>{r.choice(['Next due', 'Valid until'])}<br>{us(b)}</tr></table><p>Inspector: {man}</p>" + "".join(f"<div>[{'X' if i else ' '}] ok [{' ' if i else 'X'}] repaired &nbsp; {s}</div>" for i, s in enumerate(parts)), "body{font-size:10pt} td{padding:4pt 20pt 4pt 0}")
    m.paper(name, "inspection", layout="inspection list").F("insured_name", e.name, f).F("dot_number", e.dot, f).vin(v["vin"], f).F("effective_date", a, f, True).F("expiry_date", b, f).not_(driver_name=man)
    wr = writer(e)
    raw = letter(r, w, wr, d, f"unit {v['unit']} annual", [r.choice(["Annual inspection attached for the compliance file.", "Unit passed, here is the sheet. Please update."])], [(name, data)])
    wr.truth(m)
    m.agency().R("compliance_document", "created", insured=e.name, vin=v["vin"], expires=b)
    return m, raw


def authority(w, r, n, d):
    """A letter about authority or rating, in the manner of an administration."""
    e, a = client(w, r), shift(d, -r.randrange(2, 15))
    m = Truth(w, f"{n:03d}-compliance-authority.eml", "letter on authority or safety rating", CU, False, "clear")
    name = r.choice(["authority letter.pdf", "operating authority.pdf", "letter.pdf"])
    f = "att:" + name
    what = r.choice(["Your safety rating is SATISFACTORY as of {d}.", "This letter is evidence of your authority to operate as a common carrier, served {d}.", "Your authority was reinstated on {d}."]).format(d=long_us(a))
    data = typ(f'#set page("us-letter", margin: 2.6cm)\n#set text(11pt, font: "Libertinus Serif")\n#align(center)[Office of Carrier Records (fictional)]\n\n{te(e.name)} \\ {te(e.street)} \\ {te(e.city)}\n\n{te(r.choice(["Docket No.", "Re:", "Certificate"]))} MC\\-{e.mc} #h(2em) U.S. DOT No. {e.dot}\n\nDear carrier: {te(what)}\n')
    m.paper(name, "authority_letter", layout="letter (typst)").F("insured_name", e.name, f).F("dot_number", e.dot, f).F("mc_number", e.mc, f).F("address", e.addr, f, True).F("effective_date", a, f, True)
    wr = writer(e)
    raw = letter(r, w, wr, d, r.choice(["authority letter", "FMCSA letter", "our rating"]), [r.choice(["For our compliance file.", "Came in the mail today, please update our records."])], [(name, data)])
    wr.truth(m)
    m.agency().R("compliance_document", "created", insured=e.name)
    return m, raw
