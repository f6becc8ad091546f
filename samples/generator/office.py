"""DOCX, XLSX, CSV, plain text and HTML, byte-identical on every run."""

import csv
import io
import re
import zipfile

from docx import Document
from docx.shared import Pt
from openpyxl import Workbook
from openpyxl.styles import Font

from .facts import AGENCY, Account, money, us

STAMP = "2026-01-05T08:00:00Z"


def settle(data: bytes) -> bytes:
    """Rewrite an Office file so that no clock shows in it."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as new:
        for item in old.infolist():
            body = old.read(item.filename)
            if item.filename == "docProps/core.xml":
                body = re.sub(rb"(<dcterms:(created|modified)[^>]*>)[^<]*", rb"\g<1>" + STAMP.encode(), body)
            put(new, item.filename, body)
    return out.getvalue()


def put(archive: zipfile.ZipFile, name: str, body: bytes) -> None:
    """Add a member with a fixed date and fixed attributes."""
    info = zipfile.ZipInfo(name, (2026, 1, 5, 8, 0, 0))
    info.compress_type, info.create_system, info.external_attr = zipfile.ZIP_DEFLATED, 3, 0o600 << 16
    archive.writestr(info, body)


def coverage_docx(account: Account) -> bytes:
    """A coverage schedule as an agency types it."""
    who, doc = account.insured, Document()
    doc.core_properties.author, doc.core_properties.title = AGENCY.name, "Coverage schedule"
    doc.styles["Normal"].font.name, doc.styles["Normal"].font.size = "Calibri", Pt(10.5)
    doc.add_heading("Schedule of Insurance", 1)
    for label, value in (("Insured Name", who.name), ("Mailing Address", f"{who.street}, {who.city}"),
                         ("Phone", who.phone), ("E-mail", who.email), ("DOT #", who.dot), ("MC #", who.mc),
                         ("Agency", AGENCY.name)):
        line = doc.add_paragraph()
        line.add_run(f"{label}: ").bold = True
        line.add_run(value)
    for policy in account.policies:
        doc.add_heading(" and ".join(policy.lines), 2)
        table = doc.add_table(rows=0, cols=2, style="Light Grid Accent 1")
        for label, value in (("Insurer", policy.insurer.name), ("NAIC", policy.insurer.naic),
                             ("Policy No.", policy.number), ("Effective Date", us(policy.effective)),
                             ("Expiration Date", us(policy.expiration)), ("Annual Premium", money(policy.premium)),
                             *((k, money(v)) for k, v in policy.limits.items())):
            cells = table.add_row().cells
            cells[0].text, cells[1].text = label, value
    doc.add_heading("Vehicles", 2)
    table = doc.add_table(rows=1, cols=4, style="Light Grid Accent 1")
    for cell, text in zip(table.rows[0].cells, ("Year", "Make", "Model", "VIN")):
        cell.text = text
    for v in account.vehicles:
        for cell, text in zip(table.add_row().cells, (str(v.year), v.make, v.model, v.vin)):
            cell.text = text
    out = io.BytesIO()
    doc.save(out)
    return settle(out.getvalue())


def vehicles_xlsx(account: Account) -> bytes:
    """A lead's own list: company data on one sheet, vehicles on the next."""
    who, book = account.insured, Workbook()
    first = book.active
    first.title = "Company"
    for row in (("Company Name", who.name), ("USDOT", int(who.dot)), ("MC", int(who.mc)), ("Phone", who.phone),
                ("Email", who.email), ("Address", f"{who.street}, {who.city}")):
        first.append(row)
    sheet = book.create_sheet("Vehicles")
    sheet.append(("Unit", "Year", "Make", "Model", "VIN", "Value"))
    for n, v in enumerate(account.vehicles, 101):
        sheet.append((n, v.year, v.make, v.model, v.vin, v.value))
    sheet.append(("Total", None, None, None, None, f"=SUM(F2:F{len(account.vehicles) + 1})"))
    for cell in sheet[1]:
        cell.font = Font(bold=True)
    sheet.column_dimensions["E"].width = 22
    out = io.BytesIO()
    book.save(out)
    return settle(out.getvalue())


def table_csv(rows) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, lineterminator="\r\n").writerows(rows)
    return out.getvalue().encode()


def vehicles_csv(account: Account) -> bytes:
    return table_csv([("Unit", "Year", "Make", "Model", "VIN", "Stated Value")] +
                     [(n, v.year, v.make, v.model, v.vin, v.value) for n, v in enumerate(account.vehicles, 1)])


def policy_text(account: Account, policy) -> bytes:
    """A dec page as an old terminal program saves it: plain text in columns."""
    who = account.insured
    rows = [policy.insurer.name.upper(), "POLICY DECLARATIONS - PRINT IMAGE", "=" * 64, ""]
    pairs = [("NAMED INSURED", who.name), ("MAIL ADDRESS", f"{who.street}, {who.city}"), ("PHONE", who.phone),
             ("EMAIL", who.email), ("US DOT", who.dot), ("MC", who.mc), ("INSURER", policy.insurer.name),
             ("NAIC", policy.insurer.naic), ("POLICY NO", policy.number), ("COVERAGE", " / ".join(policy.lines)),
             ("EFFECTIVE", policy.effective.isoformat()), ("EXPIRATION", policy.expiration.isoformat()),
             ("PREMIUM", money(policy.premium)), ("AGENCY", AGENCY.name)]
    pairs += [(k.upper(), money(v)) for k, v in policy.limits.items()]
    rows += [f"{label + ' ':.<26} {value}" for label, value in pairs] + ["", "VEHICLES"]
    rows += [f"  {v.year}  {v.make:<14}{v.model:<18}{v.vin}" for v in account.vehicles]
    return ("\r\n".join(rows) + "\r\n").encode()


def policy_html(account: Account, policy) -> bytes:
    """A dec page saved from an insurer's portal."""
    who = account.insured
    pairs = [("Named Insured", who.name), ("DOT Number", who.dot), ("Insurance Company", policy.insurer.name),
             ("NAIC #", policy.insurer.naic), ("Policy Number", policy.number), ("Line of Coverage", ", ".join(policy.lines)),
             ("Policy Period", f"{us(policy.effective)} to {us(policy.expiration)}"), ("Premium", money(policy.premium))]
    pairs += [(k, money(v)) for k, v in policy.limits.items()]
    rows = "\n".join(f"<tr><th>{label}</th><td>{value}</td></tr>" for label, value in pairs)
    return (f"<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>Policy {policy.number}</title>\n"
            "<style>th{text-align:left;padding-right:2em}</style><script>var page = 'declarations';</script></head>\n"
            f"<body><h1>{policy.insurer.name}</h1>\n<p>Policy declarations</p>\n<table>\n{rows}\n</table>\n"
            "<p>Printed from the agent portal.</p></body></html>\n").encode()
