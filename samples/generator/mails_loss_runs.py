"""Mails that ask for loss runs: readable ones, and ones that a person must open."""

from datetime import datetime, timedelta, timezone

from . import facts as f
from . import mime, office, policy_pdfs, raster
from .truth import Sample, loss_run, waits

PDF = "application/pdf"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
CENTRAL = timezone(timedelta(hours=-6))


def at(day: int, hour: int, minute: int = 0, month: int = 1) -> datetime:
    return datetime(2026, month, day, hour, minute, tzinfo=CENTRAL)


def desk(account: f.Account, role="Office") -> str:
    return f"{role} <{account.insured.email}>"


def boundary(number: int, part: str = "a") -> str:
    return f"=_ironwood_{number:02d}_{part}"


def renewal(number=1):
    account = f.JUNIPER
    body = """Good morning,

our policies come up for renewal on March 1 and we would like you to shop them.
Please order currently valued loss runs, five years, from both carriers. The
declarations pages for auto liability and for cargo are attached.

We need them by the end of next week if at all possible.

Thank you
Office
Juniper Flats Transport LLC
(325) 555-0142
"""
    pages = [mime.file(name, PDF, policy_pdfs.declarations(account, policy)) for name, policy in zip(
        ("Auto-Liability-Dec-2025.pdf", "Cargo-Dec-2025.pdf"), account.policies)]
    entity = mime.multi("mixed", boundary(number), mime.text(body, how="7bit", charset="us-ascii"), *pages)
    return mime.message(desk(account), f.INTAKE, "Renewal 3/1 - loss runs needed, dec pages attached", at(12, 8, 4),
                        number, entity)


def inline_logo(number=2):
    account = f.COPPER
    html = """<html><body style="font-family:Arial">
<p>Hi team,</p>
<p>Copper Kettle Hauling is leaving its current market. Could you request <b>loss runs</b>
for the last three years? The coverage record that the carrier gave us is attached.</p>
<p>Best regards<br>Account Desk<br><img src="cid:logo@ironwoodlane.example" width="220" height="56" alt="logo"></p>
</body></html>
"""
    plain = """Hi team,

Copper Kettle Hauling is leaving its current market. Could you request loss runs
for the last three years? The coverage record that the carrier gave us is attached.

Best regards
Account Desk
"""
    related = mime.multi("related", boundary(number, "r"), mime.text(html, "html"),
                         mime.file("logo.png", "image/png", raster.logo_png(), "logo@ironwoodlane.example"))
    alternative = mime.multi("alternative", boundary(number, "b"), mime.text(plain), related)
    entity = mime.multi("mixed", boundary(number), alternative,
                        mime.file("coverage-record.pdf", PDF, policy_pdfs.boxed_form(account)))
    return mime.message("Account Desk <accounts@ironwoodlane.example>", f.INTAKE,
                        "Loss run request - Copper Kettle Hauling Inc.", at(13, 10, 41), number, entity)


def html_only(number=3):
    account = f.SALTGRASS
    html = f"""<!DOCTYPE html><html><head><style>p {{ margin: 0 0 1em }}</style></head><body>
<p>Hello Ironwood Lane,</p>
<p>please find our complete policy attached (auto liability and physical damage, both with the same
insurer, {len(account.vehicles)} units). We are asking for <em>loss runs for five years</em>&nbsp;&ndash; the new market will not
quote without them.</p>
<ul><li>Fleet: {len(account.vehicles)} power units and trailers</li><li>Renewal: April&nbsp;10</li></ul>
<p>Safety Department<br>Saltgrass Prairie Trucking LLC</p></body></html>
"""
    entity = mime.multi("mixed", boundary(number), mime.text(html, "html"),
                        mime.file("Policy and Vehicle Schedule.pdf", PDF, policy_pdfs.schedule(account)))
    return mime.message(desk(account, "Safety Department"), f.INTAKE, "Loss runs for our fleet policy", at(14, 16, 20),
                        number, entity)


def forwarded(number=4):
    account = f.MESQUITE
    inner_body = """Dear Ironwood Lane,

here is the summary of what we carry today: liability, general liability and
cargo. Two carriers. Please get the loss history from each of them so that we can
go out for quotes.

Insurance Desk
Lone Mesquite Freight Lines LLC
"""
    inner = mime.message(desk(account, "Insurance Desk"), "service@ironwoodlane.example", "Our current coverage",
                         at(14, 9, 12), 904, mime.multi(
                             "mixed", boundary(number, "inner"), mime.text(inner_body),
                             mime.file("coverage-summary.pdf", PDF, policy_pdfs.two_columns(account))))
    outer = """This came to the service mailbox. It is a loss run request, please start it.

Service Desk
"""
    entity = mime.multi("mixed", boundary(number), mime.text(outer, how="7bit"), mime.nested(inner))
    return mime.message("Service Desk <service@ironwoodlane.example>", f.INTAKE, "FW: Our current coverage", at(15, 7, 55),
                        number, entity)


def windows_charset(number=5):
    account = f.COTE
    body = """Bonjour,

we are “Côte Blanche Carriers” – one tractor pool, two trailers. Our broker asked
for loss runs (loss history) from the present insurer before the renewal. The
schedule of insurance is attached as a Word file.

Premium is paid in full, so there shouldn’t be a delay.

Merci – Bureau, Côte Blanche Carriers LLC
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body, charset="windows-1252"),
                        mime.file("schedule-of-insurance.docx", DOCX, office.coverage_docx(account)))
    return mime.message("Bureau <bureau@coteblanche.example>", f.INTAKE, "Loss runs – Côte Blanche Carriers", at(15, 11, 30),
                        number, entity, charset="windows-1252")


def wrong_vin(number=6):
    account = f.WINDMILL
    body = """Please request updated loss runs for Windmill Draw Transport. Our submission letter
with the loss history that we know of is attached, and the vehicle list as CSV.
Both policies are with the same carrier.

Accounts
Windmill Draw Transport Inc.
"""
    entity = mime.multi("mixed", boundary(number), mime.text(body),
                        mime.file("submission-letter.pdf", PDF, policy_pdfs.narrative(account)),
                        mime.file("vehicles.csv", "text/csv", office.vehicles_csv(account)))
    return mime.message(desk(account, "Accounts"), f.INTAKE, "loss runs please", at(16, 13, 2), number, entity)


def text_and_html(number=24):
    account = f.TAMARACK
    body = """Hello,

attached are both of our declarations, saved from the agent portals (one is a print
image in plain text, one is a web page). Kindly order loss runs from each insurer.

Risk Department
"""
    entity = mime.multi(
        "mixed", boundary(number), mime.text(body, how="8bit"),
        mime.file("auto-liability.txt", "text/plain; charset=us-ascii", office.policy_text(account, account.policies[0])),
        mime.file("cargo.html", "text/html; charset=utf-8", office.policy_html(account, account.policies[1])))
    return mime.message(desk(account, "Risk Department"), f.INTAKE, "Declarations for loss run order", at(6, 9, 9, 2),
                        number, entity)


def scanned(number=14):
    body = "Please request loss runs. The dec page is attached, I only have it on paper.\n\nOffice\nBlue Culvert Express LLC\n"
    entity = mime.multi("mixed", boundary(number), mime.text(body),
                        mime.file("dec-page-scan.pdf", PDF, raster.scan_pdf(f.CULVERT)))
    return mime.message(desk(f.CULVERT), f.INTAKE, "Loss runs, Blue Culvert Express", at(26, 8, 33), number, entity)


def encrypted(number=15):
    from reportlab.lib.pdfencrypt import StandardEncryption
    lock = StandardEncryption("letmein-4471", "owner-4471", strength=128)
    body = "Loss runs needed for Hollow Reed Freight. The dec page is locked, we will give you the password by phone.\n"
    entity = mime.multi("mixed", boundary(number), mime.text(body),
                        mime.file("dec-page-locked.pdf", PDF, policy_pdfs.boxed_form(f.HOLLOW, lock)))
    return mime.message(desk(f.HOLLOW, "Admin"), f.INTAKE, "Loss run request (protected file)", at(26, 15, 48), number, entity)


def broken(number=16):
    whole = policy_pdfs.declarations(f.CULVERT, f.CULVERT.policies[0])
    body = "Second try: loss runs please. The upload stopped in the middle last time, I hope both files are complete now.\n"
    entity = mime.multi("mixed", boundary(number), mime.text(body),
                        mime.file("dec-page-part1.pdf", PDF, whole[:len(whole) * 45 // 100]),
                        mime.file("vehicles.csv", "text/csv", office.vehicles_csv(f.CULVERT)))
    return mime.message(desk(f.CULVERT), f.INTAKE, "Loss runs, Blue Culvert Express (again)", at(27, 9, 0), number, entity)


def unreadable_types(number=17):
    import io
    import random
    import zipfile
    dice, raw = random.Random(17), io.BytesIO()
    with zipfile.ZipFile(raw, "w") as archive:
        office.put(archive, "export/00017.dat", dice.randbytes(3000))
    heic = b"\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic" + dice.randbytes(4000)
    body = "Loss runs for the fleet please. I took a photo of the dec page and put the rest in the archive.\n"
    entity = mime.multi("mixed", boundary(number), mime.text(body), mime.file("IMG_0417.heic", "image/heic", heic),
                        mime.file("documents.zip", "application/zip", raw.getvalue()))
    return mime.message(desk(f.HOLLOW, "Admin"), f.INTAKE, "Loss runs, photo attached", at(28, 17, 26), number, entity)


def again(mail: bytes) -> bytes:
    """The same mail, delivered a second time: only the trace header is new."""
    return (b"Received: from relay.ironwoodlane.example by mx.ironwoodlane.example with ESMTP; "
            b"Thu, 22 Jan 2026 06:00:00 -0600\r\n" + mail)


def samples() -> list:
    first = renewal()
    doc = "The task stops while documents are read, before an intent is known. Afterwards it is a loss-run request."
    return [
        Sample("mail/01-loss-run-renewal.eml", first, loss_run(f.JUNIPER, "Two dec pages, two insurers: one deal, two requests.")),
        Sample("mail/02-loss-run-form-inline-logo.eml", inline_logo(), loss_run(
            f.COPPER, "One policy with two lines, on a boxed form. The inline logo is no document.")),
        Sample("mail/03-loss-run-fleet-schedule.eml", html_only(), loss_run(
            f.SALTGRASS, "HTML only. Two policies with one insurer make one request.")),
        Sample("mail/04-loss-run-forwarded.eml", forwarded(), loss_run(
            f.MESQUITE, "The document sits in a nested message. Three policies, two insurers.")),
        Sample("mail/05-loss-run-docx-windows-1252.eml", windows_charset(), loss_run(
            f.COTE, "windows-1252 subject, sender and body; the facts are in a DOCX.")),
        Sample("mail/06-loss-run-wrong-vin.eml", wrong_vin(), loss_run(
            f.WINDMILL, "One VIN has a wrong check digit: it is kept, marked invalid, and stops nothing.")),
        Sample("mail/13-duplicate-of-01.eml", again(first), {
            **loss_run(f.JUNIPER, "The same Message-ID again: the task of the first delivery, nothing new."),
            "duplicateOf": "mail/01-loss-run-renewal.eml", "records": {}}),
        Sample("mail/14-scan.eml", scanned(), waits("document", f"No text layer. {doc}", names=["dec-page-scan.pdf"])),
        Sample("mail/15-encrypted.eml", encrypted(), waits("document", f"Needs a password. {doc}", names=["dec-page-locked.pdf"])),
        Sample("mail/16-broken-pdf.eml", broken(), waits(
            "document", f"Cut off in the middle; the CSV beside it is fine and is not named. {doc}", names=["dec-page-part1.pdf"])),
        Sample("mail/17-unreadable-types.eml", unreadable_types(), waits(
            "document", f"Neither type can be read. {doc}", names=["IMG_0417.heic", "documents.zip/00017.dat"])),
        Sample("mail/24-loss-run-txt-html.eml", text_and_html(), loss_run(
            f.TAMARACK, "One dec page as TXT, one as HTML; two insurers. Dates are ISO in one of them.")),
    ]
