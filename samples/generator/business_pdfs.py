"""Papers that are no policies: loss runs, applications, loads, registrations."""

from datetime import date

from reportlab.platypus import Spacer

from .facts import AGENCY, Account, Company, Loss, Policy, Vehicle, money, us
from .pdfkit import BOLD, MOSS, NAVY, RUST, SMALL, Sheet, flow, grid, p, style


def loss_run(account: Account, policy: Policy, losses: tuple, valued: date) -> bytes:
    """A carrier's loss run, as its claims system prints it."""
    who, insurer = account.insured, policy.insurer
    mono, head = style("Courier", 8.5), style("Courier-Bold", 12)
    rows = [["Claim No.", "Date of Loss", "Line", "Cause", "Paid", "Reserve", "Status"]]
    rows += [[f"{insurer.naic}-{n:04d}", us(x.day), x.line, x.what, money(x.paid), money(x.reserved), x.status]
             for n, x in enumerate(losses, 4017)]
    story = [p(insurer.name.upper(), head), p("LOSS RUN REPORT", head), Spacer(1, 6)]
    story += [p(row, mono) for row in (
        f"Valuation Date: {us(valued)}", f"Insured: {who.name}", f"Policy Number: {policy.number}",
        f"Policy Period: {us(policy.effective)} to {us(policy.expiration)}", f"DOT Number: {who.dot}",
        f"Agency: {AGENCY.name}")]
    story += [Spacer(1, 10), grid(rows, (0.95, 0.85, 1.05, 1.95, 0.75, 0.75, 0.65), font="Courier", size=6.9, right=(4, 5)),
              Spacer(1, 10), p(f"Total incurred: {money(sum(x.paid + x.reserved for x in losses))}", mono),
              p("Amounts may change until a claim is closed.", mono)]
    return flow(story, f"Loss Run {policy.number}", insurer.name, margin=0.75)


def holder_requirements(holder: Company, insured: Company) -> bytes:
    """What a shipper wants to see on a certificate of insurance."""
    rows = [["Coverage", "Minimum Limit"], ["Auto Liability", "$1,000,000"],
            ["Motor Truck Cargo", "$100,000"], ["General Liability", "$1,000,000"]]
    story = [p("Carrier Insurance Requirements", style("Helvetica-Bold", 16, color=NAVY)), Spacer(1, 10),
             p(f"Certificate Holder: {holder.name}, {holder.street}, {holder.city}"),
             p(f"Carrier: {insured.name}"), Spacer(1, 10), grid(rows, (3, 1.6), right=(1,)), Spacer(1, 10),
             p("The holder is to be named as additional insured. A thirty day notice of cancellation is required. "
               "No load is tendered until a certificate is on file.")]
    return flow(story, "Carrier Insurance Requirements", holder.name)


def driver_application(fleet: Company) -> bytes:
    """A driver's application; the applicant is known by a number only."""
    s = Sheet("Driver Application", fleet.name)
    s.text(0.7, 0.9, "DRIVER APPLICATION FOR EMPLOYMENT", "Helvetica-Bold", 14)
    s.text(0.7, 1.12, f"{fleet.name}   USDOT {fleet.dot}   {fleet.phone}", size=9)
    rows = [[("APPLICANT NO.", "A-2207", 2.4), ("POSITION", "Company driver, regional", 2.4), ("DATE", "01/28/2026", 2.3)],
            [("CDL NUMBER", "TX 00000417", 2.4), ("CLASS", "A", 1.0), ("STATE", "TX", 1.0), ("CDL EXPIRES", "09/30/2028", 2.7)],
            [("ENDORSEMENTS", "N, T", 2.4), ("RESTRICTIONS", "None", 2.4), ("MEDICAL CARD EXPIRES", "11/15/2026", 2.3)],
            [("YEARS OF EXPERIENCE", "7", 2.4), ("MILES DRIVEN", "640,000", 2.4), ("HIRE DATE REQUESTED", "02/16/2026", 2.3)]]
    y = 1.4
    for row in rows:
        x = 0.7
        for label, value, width in row:
            s.field(x, y, width, 0.45, label, value)
            x += width
        y += 0.45
    s.text(0.7, y + 0.35, "Employment in the last ten years", "Helvetica-Bold", 10)
    y = s.place(grid([["Employer", "From", "To", "Equipment"],
                      ["Sorrel Canyon Carriers LLC", "04/2021", "12/2025", "Tractor, dry van"],
                      ["Gravel Bend Hauling LLC", "02/2019", "03/2021", "End dump"]], (3.1, 1.1, 1.1, 1.8)), 0.7, y + 0.45)
    s.text(0.7, y + 0.35, "Motor vehicle record (MVR), last three years", "Helvetica-Bold", 10)
    y = s.place(grid([["Date", "Violation", "State", "Points"],
                      ["06/11/2024", "Speeding, 8 mph over the limit", "OK", "2"]], (1.1, 3.9, 1.0, 1.1)), 0.7, y + 0.45)
    s.tick(0.7, y + 0.3, "Applicant agrees to a drug and alcohol clearinghouse query", True)
    s.tick(0.7, y + 0.55, "Applicant has been denied a licence or permit", False)
    return s.done()


def rate_confirmation(broker: Company, carrier: Company) -> bytes:
    """A broker's load and rate confirmation."""
    story = [p(broker.name, style("Helvetica-Bold", 15, color=MOSS)), p(f"{broker.street}, {broker.city}   {broker.phone}", SMALL),
             Spacer(1, 10), p("RATE CONFIRMATION", style("Helvetica-Bold", 14)), Spacer(1, 6),
             grid([["Load #", "BC-448120"], ["Carrier", f"{carrier.name}   MC {carrier.mc}"],
                   ["Equipment", "53 ft reefer, 34 F continuous"], ["Commodity", "Fresh produce, 22 pallets, 38,400 lb"]],
                  (1.3, 5.4), head=False), Spacer(1, 10),
             grid([["Stop", "Location", "Date and time", "Reference"],
                   ["Pickup 1", "Mesa Grove Packing, Yuma, AZ", "02/18/2026 08:00", "PU 77120"],
                   ["Delivery 1", "Larkspur Grocers DC 4, Denver, CO", "02/20/2026 05:00", "PO 5590143"]],
                  (0.9, 3.0, 1.5, 1.3)), Spacer(1, 10),
             grid([["Charge", "Amount"], ["Line haul", "$3,150.00"], ["Fuel surcharge", "$412.50"],
                   ["Total carrier pay", "$3,562.50"]], (5.2, 1.5), right=(1,)), Spacer(1, 10),
             p("Sign and return. Detention is paid after two free hours with prior notice. Tracking is required. "
               "Send the proof of delivery within 48 hours for payment in 30 days.")]
    return flow(story, "Rate Confirmation BC-448120", broker.name)


def delivery_receipt(carrier: Company) -> bytes:
    """A signed proof of delivery."""
    s = Sheet("Proof of Delivery 61-20933", carrier.name)
    s.text(0.7, 0.9, "PROOF OF DELIVERY", "Helvetica-Bold", 17, RUST)
    s.text(7.8, 0.9, "POD No. 61-20933", "Courier-Bold", 11, align="right")
    for n, (label, value) in enumerate((("CARRIER", f"{carrier.name}\nMC {carrier.mc}"),
                                        ("SHIPPER", "Mesa Grove Packing\nYuma, AZ"),
                                        ("CONSIGNEE", "Larkspur Grocers DC 4\nDenver, CO"))):
        s.field(0.7 + n * 2.37, 1.15, 2.37, 0.7, label, value)
    y = s.place(grid([["Pieces", "Description", "Weight", "Condition"], ["22", "Pallets, fresh produce", "38,400 lb", "Good"],
                      ["0", "Over, short or damaged", "", ""]], (0.8, 3.5, 1.3, 1.5)), 0.7, 2.1)
    for n, (label, value) in enumerate((("ARRIVED", "02/20/2026 04:41"), ("UNLOADED", "02/20/2026 06:15"),
                                        ("SEAL NO.", "SL 0093317 intact"))):
        s.field(0.7 + n * 2.37, y + 0.3, 2.37, 0.45, label, value)
    s.text(0.7, y + 1.25, "Received in good order by", size=8)
    s.line(2.3, y + 1.27, 5.3, y + 1.27)
    s.text(2.5, y + 1.2, "Receiving Desk, Door 14", "Times-Italic", 13, NAVY)
    return s.done()


def registration(owner: Company, vehicle: Vehicle) -> bytes:
    """A vehicle registration card (cab card)."""
    s = Sheet("Apportioned Registration Cab Card", "State Motor Carrier Division")
    s.box(0.9, 0.8, 6.7, 4.3, width=1.4)
    s.text(4.25, 1.15, "APPORTIONED REGISTRATION CAB CARD", "Helvetica-Bold", 13, align="center")
    s.text(4.25, 1.35, "State Motor Carrier Division (specimen)", size=8, align="center")
    cells = (("REGISTRANT", owner.name, 4.2), ("USDOT", owner.dot, 2.1)), \
            (("VIN", vehicle.vin, 2.9), ("YEAR", str(vehicle.year), 0.9), ("MAKE", vehicle.make, 2.5)), \
            (("MODEL", vehicle.model, 2.9), ("PLATE", "R 41 7702", 1.6), ("GROSS WEIGHT", "80,000", 1.8)), \
            (("EFFECTIVE", "02/01/2026", 2.1), ("EXPIRES", "01/31/2027", 2.1), ("TITLE NO.", "T 0099 4471 20", 2.1))
    y = 1.6
    for row in cells:
        x = 1.1
        for label, value, width in row:
            s.field(x, y, width, 0.5, label, value, 10)
            x += width
        y += 0.5
    s.text(1.1, y + 0.3, "Base jurisdiction 80,000 lb. Keep this card in the vehicle.", size=8)
    return s.done()


def bill_of_lading(shipper: Company) -> bytes:
    """A straight bill of lading for a load that is still to be moved."""
    story = [p("STRAIGHT BILL OF LADING", style("Helvetica-Bold", 15)), Spacer(1, 8),
             grid([["BOL No.", "SF-30218"], ["Shipper", f"{shipper.name}, {shipper.street}, {shipper.city}"],
                   ["Ship to", "Otter Ridge Supply, 12 Depot Way, Tulsa, OK 74103"], ["Pickup date", "02/24/2026"],
                   ["Carrier", "to be assigned"]], (1.3, 5.4), head=False), Spacer(1, 10),
             p("Freight", BOLD), Spacer(1, 3),
             grid([["Qty", "Package", "Description", "Class", "Weight"], ["24", "Pallet", "Bagged cement mix", "50", "43,200 lb"]],
                  (0.6, 0.9, 3.2, 0.8, 1.2), right=(4,))]
    return flow(story, "Bill of Lading SF-30218", shipper.name)


def compliance_papers(carrier: Company) -> bytes:
    """A renewed annual inspection certificate."""
    story = [p("ANNUAL VEHICLE INSPECTION CERTIFICATE", style("Helvetica-Bold", 14)), Spacer(1, 8),
             grid([["Motor carrier", carrier.name], ["DOT Number", carrier.dot], ["Unit", "114"],
                   ["Inspected", "02/03/2026"], ["Next due", "02/28/2027"], ["Result", "Passed, no defects"]],
                  (1.6, 4.6), head=False), Spacer(1, 8),
             p("This vehicle passed an inspection of all components listed in the federal rules for motor carriers.")]
    return flow(story, "Annual Inspection", carrier.name)


def flyer(vendor: str) -> bytes:
    s = Sheet("Spring Offer", vendor)
    s.box(0.6, 0.6, 7.3, 3.2, fill=MOSS)
    s.text(4.25, 1.9, "SPRING SAVINGS", "Helvetica-Bold", 40, color=(1, 1, 1), align="center")
    s.text(4.25, 2.6, "Office chairs, desks and printers up to 60 % off", size=15, color=(1, 1, 1), align="center")
    s.text(4.25, 4.4, vendor, "Helvetica-Bold", 14, align="center")
    return s.done()


REPLY_LOSSES = (Loss(date(2025, 5, 17), "Auto Liability", "Backing, other bumper", 3_480, 0, "Closed"),
                Loss(date(2025, 11, 29), "Auto Liability", "Rear-end contact, ramp", 2_150, 14_500, "Open"))
