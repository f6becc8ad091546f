"""Leads, service requests, replies, fleet and freight mails, and mails nobody asked for."""

from datetime import date

from . import business_pdfs, mime, office
from . import facts as f
from .mails_loss_runs import DOCX, PDF, at, boundary
from .truth import Sample, lead, waits

XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
REQUEST = "0198c0de-4a11-7b52-9c3e-5d20f1e6a704"
SHIPPER = f.Company("Otter Ridge Supply", "12 Depot Way", "Tulsa, OK 74103", "(918) 555-0104", "traffic@otterridge.example")
BROKER = f.Company("Foxglove Freight Brokers", "640 Exchange Plaza", "Reno, NV 89501", "(775) 555-0166",
                   "loads@foxglovefreight.example")
KITA = f.Company("Kita Line Freight Inc.", "2001 Terminal Loop", "Long Beach, CA 90802", "(562) 555-0150",
                 "yard@kitaline.example", "9236670", "1923667")


def form_lead(number=7):
    who = f.GRAVEL.insured
    body = f"""A new quote request was submitted on the web site.

Company Name: {who.name}
USDOT #: {who.dot}
MC #: {who.mc}
Phone: {who.phone}
Email: {who.email}
Address: {who.street}, {who.city}
Coverage needed: Auto Liability, Motor Truck Cargo
Power units: 4
Years in business: 3
Current insurer: none
Message: we are growing and looking for a quote for our trucks, the sooner the better
"""
    return mime.message("Web Form <forms@ironwoodlane.example>", f.INTAKE, "New quote request: Gravel Bend Hauling LLC",
                        at(16, 18, 44), number, mime.text(body, how="7bit"), extra=(f"Reply-To: {who.email}",))


def sheet_lead(number=8):
    who = f.PECAN.insured
    body = f"""Hello,

we run six units out of south Georgia and are looking for a new agent. Could you
quote us for liability, cargo and physical damage? Our company details and vehicles
are in the spreadsheet. DOT {who.dot}.

Operations
{who.name}
{who.phone}
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body, how="base64"),
                        mime.file("Pecan Shoals vehicles.xlsx", XLSX, office.vehicles_xlsx(f.PECAN)))
    return mime.message(f"Operations <{who.email}>", f.INTAKE, "Need a quote for truck insurance, 6 units", at(19, 12, 15),
                        number, entity)


def certificate(number=9):
    who = f.HOLLOW.insured
    body = """Hi,

can you send a certificate of insurance to our shipper today? Their requirements are
attached. They want to be shown as certificate holder and additional insured.

Admin
Hollow Reed Freight Inc.
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body), mime.file(
        "carrier-requirements.pdf", PDF, business_pdfs.holder_requirements(SHIPPER, who)))
    return mime.message(f"Admin <{who.email}>", f.INTAKE, "COI needed - Otter Ridge Supply", at(20, 9, 51), number, entity)


def carrier_reply(number=10):
    policy = f.JUNIPER.policies[0]
    body = f"""To whom it may concern,

attached please find the loss runs that you requested for the policy below.

Insured: {f.JUNIPER.insured.name}
Policy: {policy.number}

Please keep the reference in the subject when you reply.

Loss Run Desk
{policy.insurer.name}
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body), mime.file(
        "loss-run-NRC-AL-204417-02.pdf", PDF,
        business_pdfs.loss_run(f.JUNIPER, policy, business_pdfs.REPLY_LOSSES, date(2026, 1, 20))))
    return mime.message(f"Loss Run Desk <lossruns@{policy.insurer.domain}>", f.INTAKE,
                        f"RE: Loss run request, Juniper Flats Transport LLC [Request:{REQUEST}]", at(21, 14, 7), number, entity)


def newsletter(number=11):
    vendor = "Quillfeather Office Outlet"
    html = """<html><body><h1 style="color:#2f5d43">Spring savings are here!</h1>
<p>Chairs, desks and printers <b>up to 60&nbsp;% off</b>. This weekend only. Free shipping on everything!!!</p>
<p><a href="https://shop.quillfeather.example/spring">Shop now</a></p>
<p style="font-size:8px">You get this newsletter because you once bought paper. <a
href="https://shop.quillfeather.example/out">Unsubscribe</a></p></body></html>
"""
    entity = mime.multi("mixed", boundary(number), mime.multi(
        "alternative", boundary(number, "b"), mime.text("Spring savings: up to 60 % off. View this mail in a browser.\n"),
        mime.text(html, "html")), mime.file("spring-flyer.pdf", PDF, business_pdfs.flyer(vendor)))
    return mime.message("Quillfeather Deals <deals@quillfeather.example>", f.INTAKE, "Spring savings: 60 % off, this weekend only",
                        at(21, 5, 1), number, entity, extra=("List-Unsubscribe: <https://shop.quillfeather.example/out>",
                                                             "Precedence: bulk"))


def vague(number=12):
    rows = [("Item", "Where", "Remark"), ("Folder 3", "Yard office", "see last week"), ("Folder 4", "Front desk", "as discussed"),
            ("Keys", "Gate", "two sets")]
    body = """Hey,

following up on what we talked about on Tuesday. The list is attached, you know what to
do with it. Call me when it is taken care of.

Thx
Yard Office
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body), mime.file("list.csv", "text/csv", office.table_csv(rows)))
    return mime.message("Yard Office <yard@sorrelcanyon.example>", f.INTAKE, "as discussed", at(22, 8, 19), number, entity)


def driver(number=18):
    body = """Please add this new driver as of February 16. The application with the CDL data and the
MVR is attached.

Safety Department
Saltgrass Prairie Trucking LLC
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body), mime.file(
        "driver-application-A-2207.pdf", PDF, business_pdfs.driver_application(f.SALTGRASS.insured)))
    return mime.message(f"Safety Department <{f.SALTGRASS.insured.email}>", f.INTAKE, "New driver application A-2207",
                        at(29, 10, 10), number, entity)


def rate(number=19):
    body = "Please sign and return the attached rate confirmation for load BC-448120. Pickup is Wednesday 08:00.\n\nCarrier Desk\n"
    entity = mime.multi("mixed", boundary(number), mime.text(body), mime.file(
        "rate-confirmation-BC-448120.pdf", PDF, business_pdfs.rate_confirmation(BROKER, f.TAMARACK.insured)))
    return mime.message(f"Carrier Desk <{BROKER.email}>", f.INTAKE, "Rate confirmation BC-448120", at(16, 14, 22, 2), number, entity)


def delivery(number=20):
    """No text part at all: the document is the whole body."""
    entity = mime.file("POD-61-20933.pdf", PDF, business_pdfs.delivery_receipt(f.TAMARACK.insured))
    return mime.message("Dispatch <dispatch@tamarackgap.example>", f.INTAKE, "POD 61-20933 signed proof of delivery",
                        at(20, 7, 3, 2), number, entity)


def registration(number=21):
    vehicle = f.fleet([(2026, 2)], 914_730)[0]
    body = """We registered a truck. The new cab card is attached, please add the unit to our vehicle list.

Office
Juniper Flats Transport LLC
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body), mime.file(
        "cab-card.pdf", PDF, business_pdfs.registration(f.JUNIPER.insured, vehicle)))
    return mime.message(f"Office <{f.JUNIPER.insured.email}>", f.INTAKE, "New vehicle registration, cab card attached",
                        at(2, 11, 40, 2), number, entity)


def compliance(number=22):
    body = """お世話になっております。

Please update our compliance file. The annual inspection of unit 114 was passed, the renewed
inspection certificate is attached.

よろしくお願いいたします。
北ライン運輸 ヤード担当
Kita Line Freight Inc., Yard
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body, charset="iso-2022-jp", how="7bit"), mime.file(
        "annual-inspection.pdf", PDF, business_pdfs.compliance_papers(KITA)))
    return mime.message(f"Yard <{KITA.email}>", f.INTAKE, "Compliance update: 年次点検 annual inspection", at(4, 6, 30, 2), number,
                        entity, charset="iso-2022-jp")


def load(number=23):
    body = """We have a new load to move: 24 pallets, 43,200 lb, flatbed or dry van, pickup February 24,
delivery to Tulsa the next day. The bill of lading is attached. Can you cover it?

Traffic Desk
"""
    quarry = f.Company("Granite Sparrow Materials", "9 Kiln Road", "Ada, OK 74820", "(580) 555-0111", "traffic@granitesparrow.example")
    entity = mime.multi("mixed", boundary(number), mime.text(body), mime.file(
        "BOL-SF-30218.pdf", PDF, business_pdfs.bill_of_lading(quarry)))
    return mime.message(f"Traffic Desk <{quarry.email}>", f.INTAKE, "New load to cover, Ada to Tulsa, pickup 2/24", at(19, 15, 5, 2),
                        number, entity)


def samples() -> list:
    later = "The tools for this are not built yet: the plan ends in review and says what is missing."
    review = lambda intent, note: waits("review", f"{note} {later}", intent)
    return [
        Sample("mail/07-new-lead-form.eml", form_lead(), lead(f.GRAVEL.insured, "A web form that arrives as mail; no attachment.")),
        Sample("mail/08-new-lead-xlsx.eml", sheet_lead(), lead(
            f.PECAN.insured, "Base64 body; the company and its vehicles are in the XLSX.", account=f.PECAN)),
        Sample("mail/09-certificate-request.eml", certificate(), review("insurance.service_request", "Asks for a certificate.")),
        Sample("mail/10-loss-run-reply.eml", carrier_reply(), waits(
            "review", "A carrier sends loss runs under the token of a request that was never made: a person is asked whether this is the insurer's answer.",
            "insurance.loss_run_reply")),
        Sample("mail/11-newsletter.eml", newsletter(), waits(
            "review", "Its headers say that it went to many, so no words of it decide; a person says what becomes of it.",
            "general_instruction")),
        Sample("mail/12-ambiguous.eml", vague(), waits("intent", "Nobody can tell what is wanted.")),
        Sample("mail/18-driver-application.eml", driver(), review("fleet.new_driver", "A driver's application.")),
        Sample("mail/19-rate-confirmation.eml", rate(), review("freight.rate_confirmation", "A broker's rate confirmation.")),
        Sample("mail/20-proof-of-delivery.eml", delivery(), review("freight.pod_received", "No text part: the PDF is the whole body.")),
        Sample("mail/21-vehicle-registration.eml", registration(), review("fleet.vehicle_registration", "A new cab card.")),
        Sample("mail/22-compliance-iso-2022-jp.eml", compliance(), review("fleet.compliance_update", "iso-2022-jp subject and body.")),
        Sample("mail/23-new-load.eml", load(), review("freight.new_load", "A load offered with its bill of lading.")),
    ]
