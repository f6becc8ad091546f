"""Faulty documents of every kind, and what reading each of them must come to."""

import random
from dataclasses import dataclass

from reportlab.lib.pdfencrypt import StandardEncryption

from . import facts as f
from . import fault_bytes as b
from . import office, policy_pdfs, raster

TYPES = {
    "pdf": "application/pdf", "csv": "text/csv", "html": "text/html", "txt": "text/plain",
    "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"}
WORD = b'<?xml version="1.0" encoding="UTF-8"?><w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
WORD_END = b"</w:body></w:document>"
SHEET = b'<?xml version="1.0" encoding="UTF-8"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>'
SHEET_END = b"</sheetData></worksheet>"
DICE_SEED = 417


@dataclass(frozen=True)
class Fault:
    file: str
    data: bytes
    expect: str
    note: str
    also: tuple = ()

    def entry(self) -> dict:
        kind = self.file.split("/")[0]
        return {"file": self.file, "contentType": TYPES[kind], "kind": kind, "expect": self.expect,
                **({"alsoAccept": list(self.also)} if self.also else {}), "note": self.note}


def pdfs() -> list:
    dice = random.Random(DICE_SEED)
    whole = policy_pdfs.declarations(f.CULVERT, f.CULVERT.policies[0])
    page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] >>"
    root = b"<< /Type /Catalog /Pages 2 0 R >>"
    many = b"<< /Type /Pages /Count 10000 /Kids [%s] >>" % b" ".join([b"3 0 R"] * 10_000)
    deep = b"<< /Type /Pages /Count 1 /Kids %s 3 0 R %s >>" % (b"[" * 20_000, b"]" * 20_000)
    ring = b"<< /Type /Pages /Count 1 /Kids [2 0 R] /Parent 2 0 R >>"
    lock = StandardEncryption("letmein-4471", "owner-4471", strength=128)
    return [
        Fault("pdf/truncated.pdf", whole[:len(whole) // 2], "broken", "The second half is missing, with the cross-reference table."),
        Fault("pdf/encrypted.pdf", policy_pdfs.boxed_form(f.HOLLOW, lock), "encrypted", "Opens with a password only."),
        Fault("pdf/scan.pdf", raster.scan_pdf(f.CULVERT), "scan", "One picture, no text layer."),
        Fault("pdf/wrong-magic.pdf", dice.randbytes(2048), "broken", "Random bytes under a PDF's name.", ("unsupported",)),
        Fault("pdf/xref-loop.pdf", b.pdf_looped_xref(), "broken", "Two cross-reference sections point at each other."),
        Fault("pdf/page-tree-loop.pdf", b.pdf({1: root, 2: ring, 3: page}), "broken", "The page tree contains itself.", ("empty",)),
        Fault("pdf/zero-pages.pdf", b.pdf({1: root, 2: b"<< /Type /Pages /Kids [] /Count 0 >>"}), "empty", "A valid file without a page."),
        Fault("pdf/empty.pdf", b"", "empty", "No bytes at all."),
        Fault("pdf/many-pages.pdf", b.pdf({1: root, 2: many, 3: page}), "too_large", "Names 10,000 pages in 60 KB."),
        Fault("pdf/deep-nesting.pdf", b.pdf({1: root, 2: deep, 3: page}), "broken",
              "Arrays nested 20,000 deep: a recursive reader overflows its stack.", ("too_large", "empty")),
        Fault("pdf/expansion-bomb.pdf", b.pdf_bomb(256), "too_large", "A few KB of page content that expand to 256 MB."),
    ]


def docxs() -> list:
    whole, dice = office.coverage_docx(f.CULVERT), random.Random(DICE_SEED + 1)
    body = lambda inner: b.replaced(whole, {"word/document.xml": inner})
    para = b"<w:p><w:r><w:t>%s</w:t></w:r></w:p>"
    laughs = (b'<?xml version="1.0"?><!DOCTYPE w [<!ENTITY a "haha">' +
              b"".join(b'<!ENTITY %c "%s">' % (n + 1, b"&%c;" % n * 10) for n in range(ord("a"), ord("i"))) + b"]>" +
              WORD.split(b"?>", 1)[1] + para % b"&i;" + WORD_END)
    deep = WORD + b"<w:tbl><w:tr><w:tc>" * 30_000 + para % b"end" + b"</w:tc></w:tr></w:tbl>" * 30_000 + WORD_END
    bomb = (100, WORD + b"<w:p><w:r><w:t>", b"x" * 1000, b"</w:t></w:r></w:p>" + WORD_END)
    return [
        Fault("docx/truncated.docx", whole[:len(whole) // 2], "broken", "The archive's directory is missing."),
        Fault("docx/encrypted.docx", b.encrypted_office(dice.randbytes(6000)), "encrypted", "An OLE container with an EncryptedPackage."),
        Fault("docx/old-word.docx", b.ole({"WordDocument": dice.randbytes(5000)}), "unsupported", "A .doc that was renamed to .docx."),
        Fault("docx/wrong-magic.docx", b"This is not an archive.\n" * 40, "broken", "Plain text under a DOCX's name.", ("unsupported",)),
        Fault("docx/no-document.docx", b.replaced(whole, {"word/document.xml": None}), "broken", "The main part is missing."),
        Fault("docx/broken-xml.docx", body(WORD + para % b"Named Insured" + b"<w:p><w:r><w:t>Blue Culv"), "broken", "The main part ends inside an element."),
        Fault("docx/no-text.docx", body(WORD + b"<w:p/>" + WORD_END), "empty", "A valid file without a word."),
        Fault("docx/entity-bomb.docx", body(laughs), "broken", "Entities that expand to 400 MB; a DTD has no place here.", ("too_large",)),
        Fault("docx/deep-nesting.docx", body(deep), "too_large", "Tables nested 30,000 deep.", ("broken",)),
        Fault("docx/expansion-bomb.docx", body(bomb), "too_large", "100 MB of text in an archive of about 100 KB."),
    ]


def xlsxs() -> list:
    whole, dice = office.vehicles_xlsx(f.PECAN), random.Random(DICE_SEED + 2)
    sheets = lambda inner: b.replaced(whole, {"xl/worksheets/sheet1.xml": inner, "xl/worksheets/sheet2.xml": SHEET + SHEET_END})
    cell = b'<row r="%d"><c r="%s" t="inlineStr"><is><t>%s</t></is></c></row>'
    bomb = (100, SHEET + b'<row r="1"><c r="A1" t="inlineStr"><is><t>', b"x" * 1000, b"</t></is></c></row>" + SHEET_END)
    return [
        Fault("xlsx/truncated.xlsx", whole[:len(whole) // 2], "broken", "The archive's directory is missing."),
        Fault("xlsx/encrypted.xlsx", b.encrypted_office(dice.randbytes(6000)), "encrypted", "An OLE container with an EncryptedPackage."),
        Fault("xlsx/old-excel.xlsx", b.ole({"Workbook": dice.randbytes(5000)}), "unsupported",
              "A .xls that was renamed to .xlsx, and damaged as well.", ("broken",)),
        Fault("xlsx/broken-xml.xlsx", sheets(SHEET + b'<row r="1"><c r="A1"><v>12</c></row>'), "broken", "A sheet whose elements do not match."),
        Fault("xlsx/no-workbook.xlsx", b.replaced(whole, {"xl/workbook.xml": None}), "broken", "The workbook part is missing."),
        Fault("xlsx/no-cells.xlsx", sheets(SHEET + SHEET_END), "empty", "Two sheets without a cell."),
        Fault("xlsx/far-cell.xlsx", sheets(SHEET + cell % (1, b"A1", b"near") + cell % (1048576, b"XFD1048576", b"far") + SHEET_END),
              "too_large", "Two cells at opposite corners: a dense grid would have 17 billion."),
        Fault("xlsx/expansion-bomb.xlsx", sheets(bomb), "too_large", "One cell of 100 MB in an archive of about 100 KB."),
    ]


def texts() -> list:
    dice = random.Random(DICE_SEED + 3)
    noise = b"\x00" + dice.randbytes(4095)
    # A lone half of a surrogate pair, and an odd number of bytes.
    torn = b"\xff\xfe" + "Unit;VIN\r\n".encode("utf-16-le") + b"\x00\xd8" * 40 + b"A"
    divs = 10_000
    return [
        Fault("csv/binary.csv", noise, "broken", "Random bytes.", ("unsupported",)),
        Fault("csv/empty.csv", b"", "empty", "No bytes at all."),
        Fault("csv/only-separators.csv", b",,,,,\r\n" * 200, "empty", "Rows and columns without a value."),
        Fault("csv/torn-utf-16.csv", torn, "broken", "UTF-16 with unpaired surrogates and an odd length."),
        Fault("csv/too-many-columns.csv", b"1," * 99_999 + b"1\r\n", "too_large", "One row of 100,000 columns."),
        Fault("html/no-text.html", b"<html><head><title></title><style>p{color:red}</style><script>var insured = 'none';</script></head>"
              b"<body><img src='x.png'></body></html>", "empty", "Style, script and a picture; nothing to read."),
        Fault("html/empty.html", b"", "empty", "No bytes at all."),
        Fault("html/binary.html", noise, "broken", "Random bytes.", ("unsupported",)),
        Fault("html/torn-utf-16.html", b"\xff\xfe" + "<html><body>".encode("utf-16-le") + b"\x00\xdc" * 40 + b"<", "broken",
              "UTF-16 with unpaired surrogates and an odd length."),
        Fault("html/deep-nesting.html", b"<html><body>" + b"<i><b>" * divs + b"deep" + b"</b></i>" * divs + b"</body></html>", "too_large",
              "Elements nested 20,000 deep.", ("broken",)),
        Fault("txt/binary.txt", noise, "broken", "Random bytes.", ("unsupported",)),
        Fault("txt/empty.txt", b"", "empty", "No bytes at all."),
        Fault("txt/only-spaces.txt", b" \t\r\n" * 300, "empty", "White space only."),
        Fault("txt/torn-utf-16.txt", torn, "broken", "UTF-16 with unpaired surrogates and an odd length."),
    ]


def faults() -> list:
    return pdfs() + docxs() + xlsxs() + texts()
