"""Policy documents as PDF, each in a layout of its own and with its own labels."""

from reportlab.lib.units import inch
from reportlab.platypus import PageBreak, Spacer

from .facts import AGENCY, Account, Policy, money, us
from .pdfkit import (BOLD, MOSS, NAVY, RUST, SMALL, Sheet, flow, grid, p, style)


def _vehicle_rows(vehicles, value=True):
    head = ["Unit", "Year", "Make", "Model", "VIN"] + (["Stated Value"] if value else [])
    return [head] + [[str(n), str(v.year), v.make, v.model, v.vin] + ([money(v.value)] if value else [])
                     for n, v in enumerate(vehicles, 1)]


def declarations(account: Account, policy: Policy) -> bytes:
    """A declarations page whose data stands in ruled tables."""
    who, insurer = account.insured, policy.insurer

    def band(c, doc):
        c.setFillColor(NAVY)
        c.rect(0, 792 - 0.95 * inch, 612, 0.95 * inch, stroke=0, fill=1)
        c.setFillColorRGB(1, 1, 1)
        c.setFont("Times-Bold", 17)
        c.drawString(0.8 * inch, 792 - 0.52 * inch, insurer.name)
        c.setFont("Helvetica", 8)
        c.drawString(0.8 * inch, 792 - 0.73 * inch, f"{insurer.address}   NAIC # {insurer.naic}")
        c.setFillColorRGB(0.3, 0.3, 0.3)
        c.setFont("Helvetica", 7)
        c.drawString(0.8 * inch, 0.5 * inch, f"Form DEC 10 21   {policy.number}   Page {doc.page}")

    facts = grid([
        ["Named Insured:", who.name], ["Mailing Address:", f"{who.street}, {who.city}"],
        ["Telephone:", who.phone], ["E-mail:", who.email],
        ["USDOT Number:", who.dot], ["MC Number:", f"MC-{who.mc}"],
        ["Policy Number:", policy.number],
        ["Policy Period:", f"{us(policy.effective)} to {us(policy.expiration)}"],
        ["Insurer:", insurer.name], ["Agency:", AGENCY.name],
    ], (1.6, 5.2), head=False)
    covers = [["Coverage", "Limit", "Premium"]]
    share = policy.premium
    for n, (name, limit) in enumerate(policy.limits.items()):
        part = policy.premium * 9 // 10 if n == 0 and len(policy.limits) > 1 else share
        covers.append([f"{policy.lines[0]} - {name}", money(limit), money(part)])
        share -= part
    covers.append(["Total Annual Premium", "", money(policy.premium)])
    story = [p(f"{policy.lines[0].upper()} DECLARATIONS", style("Helvetica-Bold", 13)), Spacer(1, 6),
             p("Renewal declarations. This page with the policy form and endorsements completes the policy.", SMALL),
             Spacer(1, 8), facts, Spacer(1, 12), p("Schedule of Coverages", BOLD), Spacer(1, 4),
             grid(covers, (3.8, 1.5, 1.5), right=(1, 2)), Spacer(1, 12),
             p("Schedule of Covered Autos", BOLD), Spacer(1, 4),
             grid(_vehicle_rows(account.vehicles), (0.5, 0.6, 1.2, 1.4, 2.0, 1.1), right=(5,)),
             Spacer(1, 14), p("Radius of operation: 500 miles. Garaging: address of the named insured.", SMALL)]
    return flow(story, f"Declarations {policy.number}", insurer.name, band, top=1.2)


def two_columns(account: Account) -> bytes:
    """A coverage summary: the insured on the left, one block a policy on the right."""
    who = account.insured
    s = Sheet(f"Coverage Summary {who.name}", AGENCY.name)
    s.text(0.7, 0.85, "Coverage Summary", "Helvetica-Bold", 20, MOSS)
    s.text(0.7, 1.08, f"prepared by {AGENCY.name}", size=9)
    s.line(0.7, 1.2, 7.8, 1.2, 1.4, MOSS)
    y = 1.55
    for label, value in (("Insured Name", who.name), ("Address", f"{who.street}\n{who.city}"),
                         ("Phone", who.phone), ("Email", who.email), ("USDOT #", who.dot), ("MC #", who.mc),
                         ("Agency", AGENCY.name), ("Agency Phone", AGENCY.phone),
                         ("Operation", "For-hire motor carrier\ndry van and refrigerated"),
                         ("Commodities", "Packaged food, paper,\nbuilding material")):
        s.text(0.7, y, label, "Helvetica-Bold", 8, MOSS)
        for row in value.split("\n"):
            y += 0.17
            s.text(0.7, y, row, size=9.5)
        y += 0.27
    s.line(3.55, 1.4, 3.55, 9.2)
    y = 1.55
    for policy in account.policies:
        s.text(3.8, y, " / ".join(policy.lines), "Helvetica-Bold", 11.5)
        rows = [("Carrier", policy.insurer.name), ("NAIC", policy.insurer.naic), ("Policy No.", policy.number),
                ("Eff. Date", us(policy.effective)), ("Exp. Date", us(policy.expiration)),
                ("Premium", money(policy.premium))] + [(k, money(v)) for k, v in policy.limits.items()]
        for label, value in rows:
            y += 0.2
            s.text(3.8, y, label, size=8.5)
            s.text(5.4, y, value, "Helvetica-Bold", 8.5)
        y += 0.48
    s.text(3.8, y, "Equipment", "Helvetica-Bold", 11.5)
    s.place(grid(_vehicle_rows(account.vehicles, value=False), (0.4, 0.45, 0.9, 0.85, 1.4), size=7), 3.8, y + 0.08)
    s.text(0.7, 10.3, "This summary is not a policy. Conditions and exclusions of the policies apply.", size=7)
    return s.done()


def boxed_form(account: Account, encrypt=None) -> bytes:
    """A form of boxes with small labels, filled in by typewriter."""
    who, policy = account.insured, account.policies[0]
    s = Sheet(f"Commercial Auto Record {policy.number}", policy.insurer.name, encrypt)
    s.text(0.6, 0.75, "COMMERCIAL AUTO COVERAGE RECORD", "Helvetica-Bold", 13)
    s.text(7.9, 0.75, "FORM CR-118 (07/24)", size=7, align="right")
    s.field(0.6, 0.9, 3.65, 0.85, "AGENCY", f"{AGENCY.name}\n{AGENCY.street}\n{AGENCY.city}")
    s.field(4.25, 0.9, 2.55, 0.42, "COMPANY", policy.insurer.name, 7)
    s.field(6.8, 0.9, 1.1, 0.42, "NAIC CODE", policy.insurer.naic)
    s.field(4.25, 1.32, 3.65, 0.43, "POLICY NUMBER", policy.number)
    s.field(0.6, 1.75, 3.65, 0.85, "NAMED INSURED AND MAILING ADDRESS", f"{who.name}\n{who.street}\n{who.city}")
    s.field(4.25, 1.75, 1.82, 0.42, "EFFECTIVE DATE", us(policy.effective))
    s.field(6.07, 1.75, 1.83, 0.42, "EXPIRATION DATE", us(policy.expiration))
    s.field(4.25, 2.17, 1.82, 0.43, "DOT NUMBER", who.dot)
    s.field(6.07, 2.17, 1.83, 0.43, "MC NUMBER", who.mc)
    s.field(0.6, 2.6, 2.4, 0.42, "PHONE", who.phone)
    s.field(3.0, 2.6, 3.07, 0.42, "E-MAIL ADDRESS", who.email)
    s.field(6.07, 2.6, 1.83, 0.42, "TOTAL PREMIUM", money(policy.premium))
    s.text(0.6, 3.28, "LINES OF COVERAGE", "Helvetica-Bold", 8)
    for n, line in enumerate(("Auto Liability", "Motor Truck Cargo", "Physical Damage", "General Liability")):
        s.tick(0.65 + n * 1.8, 3.38, line, line in policy.lines)
    s.text(0.6, 3.88, "LIMITS", "Helvetica-Bold", 8)
    for n, (label, limit) in enumerate(policy.limits.items()):
        s.field(0.6 + n * 2.4, 3.95, 2.4, 0.42, label.upper(), money(limit))
    s.text(0.6, 4.65, "DESCRIPTION OF VEHICLES", "Helvetica-Bold", 8)
    y = 4.72
    for n, v in enumerate(account.vehicles, 1):
        s.field(0.6, y, 0.5, 0.4, "VEH #", str(n))
        s.field(1.1, y, 0.7, 0.4, "YEAR", str(v.year))
        s.field(1.8, y, 1.3, 0.4, "MAKE", v.make)
        s.field(3.1, y, 1.5, 0.4, "MODEL", v.model)
        s.field(4.6, y, 2.1, 0.4, "VIN", v.vin)
        s.field(6.7, y, 1.2, 0.4, "STATED AMOUNT", money(v.value))
        y += 0.4
    s.field(0.6, y + 0.2, 7.3, 0.75, "REMARKS",
            "Garaged at the mailing address. Radius 400 miles.\nCollision and comprehensive deductible 1,000 each.")
    s.text(0.6, y + 1.25, "Signature of authorised representative", size=7)
    s.line(2.6, y + 1.25, 5.6, y + 1.25)
    return s.done()


def schedule(account: Account) -> bytes:
    """A policy of several pages: declarations, vehicle schedule, losses, endorsements."""
    who, insurer = account.insured, account.policies[0].insurer
    numbers = " and ".join(policy.number for policy in account.policies)

    def frame(c, doc):
        c.setFont("Times-Bold", 10)
        c.drawString(0.8 * inch, 10.45 * inch, insurer.name)
        c.setFont("Times-Roman", 8)
        c.drawRightString(7.7 * inch, 10.45 * inch, f"Page {doc.page}")
        c.drawString(0.8 * inch, 0.55 * inch, f"Policies {numbers}")
        c.line(0.8 * inch, 10.38 * inch, 7.7 * inch, 10.38 * inch)

    serif, head = style("Times-Roman", 10), style("Times-Bold", 13, color=RUST)
    story = [p("Motor Carrier Policy: Common Declarations", head), Spacer(1, 8)]
    story += [p(row, serif) for row in (
        f"<b>Named Insured:</b> {who.name}", f"<b>Mailing Address:</b> {who.street}, {who.city}",
        f"<b>Phone:</b> {who.phone}", f"<b>E-mail:</b> {who.email}",
        f"<b>DOT Number:</b> {who.dot}", f"<b>MC Number:</b> {who.mc}",
        f"<b>Insurance Company:</b> {insurer.name} (NAIC {insurer.naic})",
        f"<b>Producer:</b> {AGENCY.name}, {AGENCY.phone}")]
    rows = [["Line of Coverage", "Policy No.", "Eff. Date", "Exp. Date", "Premium"]]
    rows += [[policy.lines[0], policy.number, us(policy.effective), us(policy.expiration), money(policy.premium)]
             for policy in account.policies]
    limits = [["Line of Coverage", "Limit or Deductible", "Amount"]]
    limits += [[policy.lines[0], k, money(v)] for policy in account.policies for k, v in policy.limits.items()]
    story += [Spacer(1, 10), grid(rows, (1.6, 1.6, 1.1, 1.1, 1.2), font="Times-Roman", size=9, right=(4,)),
              Spacer(1, 12), grid(limits, (1.9, 2.4, 1.4), font="Times-Roman", size=9, right=(2,)),
              Spacer(1, 14), p("In return for the payment of the premium, and subject to all terms of this policy, "
                               "the Company agrees with the Named Insured to provide the coverage stated. The vehicle "
                               "schedule on the following pages is part of these declarations. Vehicles that are "
                               "acquired during the policy period are covered from the day they are reported.", serif),
              PageBreak(), p(f"Schedule of Vehicles ({len(account.vehicles)} units)", head), Spacer(1, 8),
              grid(_vehicle_rows(account.vehicles), (0.5, 0.6, 1.2, 1.5, 2.0, 1.1), font="Times-Roman", size=9,
                   right=(5,)),
              PageBreak(), p("Loss History, last five years", head), Spacer(1, 8), loss_table(account, "Times-Roman"),
              Spacer(1, 14), p("Endorsements", head), Spacer(1, 6)]
    story += [p(f"{n}. {text}", serif) for n, text in enumerate((
        "MC 20 14  Coverage for certain operations in connection with railroads",
        "MC 21 02  Public liability filing with the federal authority",
        "MC 33 07  Trailer interchange, limit $40,000",
        "MC 41 11  Loss payee, as scheduled with the Company"), 1)]
    return flow(story, f"Policy {numbers}", insurer.name, frame, top=0.95)


def loss_table(account: Account, font="Helvetica"):
    rows = [["Date of Loss", "Line", "Description", "Paid", "Reserve", "Status"]]
    rows += [[us(x.day), x.line, x.what, money(x.paid), money(x.reserved), x.status] for x in account.losses]
    rows.append(["Total", "", f"{len(account.losses)} claims", money(sum(x.paid for x in account.losses)),
                 money(sum(x.reserved for x in account.losses)), ""])
    return grid(rows, (0.9, 1.2, 2.55, 0.8, 0.8, 0.65), font=font, size=8.4, right=(3, 4))


def narrative(account: Account) -> bytes:
    """A broker's submission letter: facts in prose lines, then tables."""
    who = account.insured
    serif, head = style("Times-Roman", 10.5), style("Times-Bold", 11.5)
    story = [p(AGENCY.name, style("Times-Bold", 15, color=RUST)),
             p(f"{AGENCY.street}, {AGENCY.city}   Tel {AGENCY.phone}", style("Times-Italic", 9)), Spacer(1, 14),
             p("Submission: current coverage and five year loss history", head), Spacer(1, 8)]
    for row in (f"Insured: {who.name}", f"Mailing Address: {who.street}, {who.city}",
                f"Contact: {who.phone}, {who.email}", f"US DOT No. {who.dot}    MC-{who.mc}"):
        story.append(p(row, serif))
    for policy in account.policies:
        story += [Spacer(1, 7), p(f"{' and '.join(policy.lines)}", head),
                  p(f"Insurer: {policy.insurer.name} (NAIC {policy.insurer.naic})", serif),
                  p(f"Policy #: {policy.number}", serif),
                  p(f"Term: {policy.effective:%B} {policy.effective.day}, {policy.effective.year} - "
                    f"{policy.expiration:%B} {policy.expiration.day}, {policy.expiration.year}", serif),
                  p("; ".join(f"{k}: {money(v)}" for k, v in policy.limits.items())
                    + f"; Annual Premium: {money(policy.premium)}", serif)]
    story += [Spacer(1, 10), p("Vehicles", head), Spacer(1, 3),
              grid(_vehicle_rows(account.vehicles), (0.5, 0.6, 1.2, 1.5, 2.0, 1.1), font="Times-Roman", size=9, right=(5,)),
              Spacer(1, 10), p("Claims in the last five years", head), Spacer(1, 3), loss_table(account, "Times-Roman")]
    return flow(story, f"Submission {who.name}", AGENCY.name, margin=0.8)
