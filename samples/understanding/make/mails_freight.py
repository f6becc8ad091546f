"""Loads: rate confirmations, bills of lading, offers in words, proofs of delivery."""
from bodies import Writer, insured_writer, letter
from mails_service import client
from produce import Draw, esc, picture, te, typ, weasy
from truth import Truth
from values import *

RC, NL, POD = "freight.rate_confirmation", "freight.new_load", "freight.pod_received"


def makers(r, n):
    out = []
    while len(out) < n:
        out += [rate, r.choice([lading, offer]), r.choice([delivered, rate, offer])]
    return out[:n]


def load(w, r, d):
    """The facts of a load."""
    pu = shift(d, r.randrange(1, 6))
    line, fuel = r.randrange(900, 4200), r.choice([0, r.randrange(80, 600)])
    return dict(no=w.once(lambda: r.choice(["", "L-", "LD", "PRO "]) + str(r.randrange(100000, 9999999))), pu=pu, de=shift(pu, r.randrange(1, 4)), sh=w.business(r), co=w.business(r), line=float(line), fuel=float(fuel), total=float(line + fuel), weight=r.randrange(9000, 45000))


def facts(m, x, f):
    return m.F("load_number", x["no"], f).F("pickup_date", x["pu"], f).F("delivery_date", x["de"], f).F("shipper", x["sh"].name, f).F("consignee", x["co"].name, f)


def broker(w, r):
    o = w.business(r)
    return o, o.name.split()[0] + " " + r.choice(["Logistics Inc.", "Freight Brokerage LLC", "Transport Solutions", "Load Exchange"])


def rate(w, r, n, d):
    """A rate confirmation: stops, charges with a total, the broker's MC beside the carrier's."""
    e, x = client(w, r), load(w, r, d)
    o, bname = broker(w, r)
    bmc = w.once(lambda: str(r.randrange(2000011, 3999989)))
    m = Truth(w, f"{n:03d}-freight-rate.eml", "rate confirmation", RC, False, "clear")
    name = r.choice(["RateCon.pdf", f"Rate Confirmation {x['no']}.pdf", "confirmation.pdf", "load tender.pdf"])
    f = "att:" + name
    D = r.choice([us, iso, abbr_us, us_two])
    K = {k: r.choice(v) for k, v in dict(no=["Load #", "Load Number", "Order", "Reference", "Trip No."], ca=["Carrier", "Motor carrier", "Hauler"], br=["Broker", "Customer", "Booked with"], pu=["Pickup", "Pick up", "PU date", "Ship date"], de=["Delivery", "Deliver", "Del. date", "Drop"],
                                        sh=["Shipper", "Origin", "Pick up at"], co=["Consignee", "Receiver", "Deliver to", "Destination"], to=["Total", "Total rate", "All in", "Total carrier pay"], li=["Line haul", "Flat rate", "Base"]).items()}
    if r.random() < .18:
        K = r.choice([dict(no="Voyage / Load", ca="Transporteur / Carrier", br="Courtier / Broker", pu="Cueillette / Pickup", de="Livraison / Delivery", sh="Expéditeur / Shipper", co="Destinataire / Consignee", to="Taux total / Total rate", li="Taux / Line haul"),
                      dict(no="Carga No.", ca="Transportista", br="Corredor", pu="Fecha de recolección", de="Fecha de entrega", sh="Remitente", co="Destinatario", to="Tarifa total", li="Flete")])
    F = [(K["br"], f"{bname}, MC {bmc}"), (K["no"], x["no"]), (K["ca"], f"{e.name}, MC {e.mc}"), (K["sh"], x["sh"].name), (K["pu"], D(x["pu"])), (K["co"], x["co"].name), (K["de"], D(x["de"])), (K["li"], usd(x["line"], True))] + ([("Fuel", usd(x["fuel"], True))] if x["fuel"] else []) + [(K["to"], usd(x["total"], True)), ("Weight", f"{x['weight']:,} lb")]
    how, title = r.choice(["weasyprint", "typst", "reportlab"]), r.choice(["Rate Confirmation", "Load confirmation", "Carrier Rate Confirmation", "LOAD TENDER", "Rate Agreement", "Carrier Load Sheet"])
    if how == "weasyprint":
        stops = f"<table border=1 cellspacing=0><tr><th>Stop<th>Location<th>Date</tr><tr><td>{K['sh']}<td>{esc(x['sh'].name)}<br>{x['sh'].city}<td>{K['pu']}<br>{D(x['pu'])}</tr><tr><td>{K['co']}<td>{esc(x['co'].name)}<br>{x['co'].city}<td>{K['de']}<br>{D(x['de'])}</tr></table>"
        rest = [y for y in F if y[0] not in (K["sh"], K["pu"], K["co"], K["de"])]
        data = weasy(f"<h2>{title}</h2>{stops}" + "".join(f"<p><small>{a}</small> {esc(b)}</p>" for a, b in rest), "body{font-size:9.5pt} td,th{padding:4pt} p{margin:2pt}")
    elif how == "typst":
        data = typ('#set page("us-letter", margin: 2cm)\n#set text(10pt, font: "New Computer Modern")\n= ' + title + '\n#table(columns: (auto, 1fr), ' + ", ".join(f"[{te(a)}], [{te(b)}]" for a, b in F) + ")")
    else:
        q = Draw(producer="LoadDesk")
        q.t(40, 44, title, "Helvetica-Bold", 13)
        for i, (a, b) in enumerate(F):
            px, py = 40 + i % 2 * 270, 70 + i // 2 * 34
            q.box(px, py, 270, 34)
            q.t(px + 4, py + 10, a, z=6.5)
            q.t(px + 8, py + 24, b, z=8)
        data = q.done()
    m.paper(name, "rate_confirmation", layout=f"rate confirmation {how}")
    facts(m, x, f).F("rate_amount", x["total"], f).F("broker", bname, f).F("insured_name", e.name, f).F("mc_number", e.mc, f).F("mc_number", bmc, f, True).F("rate_amount", x["line"], f, True).F("weight", x["weight"], f, True)
    if x["fuel"]:
        m.F("rate_amount", x["fuel"], f, True)
    from_broker = r.random() < .4
    wr = Writer(w.person(r), f"loads@{o.domain}", bname, "", w.phone(r)) if from_broker else insured_writer(e)
    raw = letter(r, w, wr, d, r.choice(["Rate confirmation {n}", "Ratecon {n}", "load {n} confirmed", "FW: rate con"]).format(n=x["no"]), [r.choice(["Rate confirmation attached.", "Confirmation for the load we talked about."] + (["Sign and return please."] if from_broker else ["Booked, please file the rate con.", "got this one, rate con for the file"]))], [(name, data)])
    wr.truth(m)
    m.agency().not_(insured_name=bname).R("load", "created", reference=x["no"], carrier=e.name, rate=x["total"]).no("deal", "sign the confirmation")
    return m, raw


def lading(w, r, n, d):
    """A bill of lading for a new load."""
    e, x = client(w, r), load(w, r, d)
    m = Truth(w, f"{n:03d}-freight-lading.eml", "bill of lading for a new load", NL, False, "clear")
    name = r.choice(["BOL.pdf", f"BOL {x['no']}.pdf", "bill of lading.pdf"])
    f = "att:" + name
    q = Draw(producer="ShipPapers")
    q.m(306, 40, "BILL OF LADING", "Helvetica-Bold", 14)
    F = [(r.choice(["B/L No.", "BOL #", "Shipper no."]), x["no"]), (r.choice(["Date", "Ship date", "Pickup"]), us(x["pu"])), (r.choice(["Shipper", "Ship from"]), x["sh"].name), (r.choice(["Consignee", "Ship to"]), x["co"].name), (r.choice(["Carrier", "Carrier name"]), e.name), (r.choice(["Deliver by", "Required delivery"]), us(x["de"]))]
    for i, (a, b) in enumerate(F):
        px, py = 40 + i % 2 * 266, 60 + i // 2 * 44
        q.box(px, py, 266, 44)
        q.t(px + 4, py + 10, a, z=6.5)
        q.t(px + 8, py + 28, b, "Courier", 9)
    for i, row in enumerate([("Pieces", "HM", "Description", "Weight")] + [(f"{r.randrange(2, 24)} plt", r.choice(["", "X"]), r.choice(["Paper", "Canned goods", "Paint", "Tile", "Feed"]), f"{x['weight']:,}")]):
        for px, s in zip((40, 120, 160, 480), row):
            q.t(px, 220 + i * 18, s)
    m.paper(name, "bol", layout="bill of lading (reportlab)")
    facts(m, x, f).F("carrier_name", e.name, f).F("insured_name", e.name, f).F("weight", x["weight"], f, True).not_(carrier=e.name)
    wr = Writer(w.person(r), f"shipping@{x['sh'].domain}", x["sh"].name, "Shipping", w.phone(r))
    raw = letter(r, w, wr, d, r.choice(["new load", f"Pickup {x['no']}", "load for you"]), [r.choice(["New load, BOL attached.", "Please pick up, bill of lading attached."])], [(name, q.done())])
    wr.truth(m)
    m.agency().R("load", "created", reference=x["no"], carrier=e.name)
    return m, raw


def offer(w, r, n, d):
    """A load offered in the words of the mail."""
    x = load(w, r, d)
    m = Truth(w, f"{n:03d}-freight-offer.eml", "load offered in the mail", NL, False, "clear")
    D = r.choice([us, abbr_us, us_bare])
    L = [r.choice(["Load {}", "Order # {}", "Ref {}"]).format(x["no"]), r.choice(["From: {}", "Shipper: {}", "Pick up at {}"]).format(f"{x['sh'].name}, {x['sh'].city}"), r.choice(["To: {}", "Consignee: {}", "Deliver to {}"]).format(f"{x['co'].name}, {x['co'].city}"), r.choice(["Pick up {}", "PU: {}"]).format(D(x["pu"])), r.choice(["Deliver {}", "DEL: {}"]).format(D(x["de"])), f"{x['weight']:,} lbs"]
    facts(m, x, "body").F("weight", x["weight"], "body", True)
    wr = Writer(w.person(r), f"traffic@{x['sh'].domain}", x["sh"].name, "Traffic", w.phone(r))
    raw = letter(r, w, wr, d, r.choice(["Load available", "Can you cover this?", f"truck needed {D(x['pu'])}"]), [r.choice(["New load, can you take it?", "Truck needed for this load:"])] + (L if r.random() < .7 else [". ".join(L)]))
    wr.truth(m)
    m.agency().R("load", "created", reference=x["no"])
    return m, raw


def delivered(w, r, n, d):
    """A photo of a signed paper; load and receiver stand in the mail."""
    e, x = client(w, r), load(w, r, d)
    done = shift(d, -r.randrange(0, 2))
    m = Truth(w, f"{n:03d}-freight-pod.eml", "signed delivery paper as a photo", POD, "either", "number stands in the mail; the note on the photo needs OCR or a look")
    name = r.choice(["IMG_5520.jpg", "pod.jpg", "signed.jpg"])
    L = ["DELIVERY RECEIPT", f"No. {x['no']}", f"Receiver: {x['co'].name}", f"Received {us(done)}", f"Pieces {r.randrange(4, 30)}", "Signature: " + w.person(r)]
    m.paper(name, "pod", "ocr", text_in_picture=L).F("load_number", x["no"], "body").F("consignee", x["co"].name, "body").F("delivery_date", done, "picture:" + name, True)
    wr = insured_writer(e)
    wr.org = ""
    raw = letter(r, w, wr, d, r.choice([f"POD {x['no']}", "delivered", "proof of delivery"]), [r.choice(["Load {n} delivered at {c}, signed POD attached.", "POD for {n}, {c}."]).format(n=x["no"], c=x["co"].name)], [(name, picture(L, n, 700, 520, 22, -2, quality=30, noise=250))])
    wr.truth(m)
    m.agency().R("pod", "created", load=x["no"])
    return m, raw
