"""Producers of files: weasyprint, typst, fpdf2, reportlab, pikepdf, python-docx, openpyxl, Pillow, csv, zip.

Promise: no program outside the Python packages is used, all fonts come with the packages, and dates and
identifiers inside the files are fixed, so that the same facts give the same text every time.
"""
import csv
import datetime as dt
import io
import os
import random
import re
import tempfile
import zipfile


def calm(pdf):
    """Replaces dates and identifiers by fixed ones of the same length."""
    pdf = re.sub(rb"(/(?:CreationDate|ModDate) ?\(D:)(\d{14})([^)]*)\)",
                 lambda m: m[1] + b"20260105090000" + re.sub(rb"\d", b"0", m[3]) + b")", pdf)
    pdf = re.sub(rb"(/ID\s*\[\s*<)([0-9A-Fa-f]+)(>\s*<)([0-9A-Fa-f]+)(>)",
                 lambda m: m[1] + b"A" * len(m[2]) + m[3] + b"A" * len(m[4]) + m[5], pdf)
    return re.sub(rb"(uuid:)([0-9a-f-]{36})", lambda m: m[1] + b"0" * 36, pdf)


def vera(style=""):
    """Path of a font that reportlab carries; style: "", "Bd", "It", "BI"."""
    import reportlab
    return os.path.join(os.path.dirname(reportlab.__file__), "fonts", f"Vera{style}.ttf")


_fonts = None


def weasy(html, css=""):
    import weasyprint
    from weasyprint.text.fonts import FontConfiguration
    global _fonts
    _fonts = _fonts or FontConfiguration()
    face = "".join(f"@font-face{{font-family:Vera;src:url(file://{vera(s)});font-weight:{w};font-style:{i}}}"
                   for s, w, i in (("", "normal", "normal"), ("Bd", "bold", "normal"), ("It", "normal", "italic")))
    css = weasyprint.CSS(string=face + "body{font-family:Vera}" + css, font_config=_fonts)
    return calm(weasyprint.HTML(string=html).write_pdf(stylesheets=[css], font_config=_fonts, pdf_identifier=b"\xaa" * 16))


def esc(s):
    return str(s).replace("&", "&amp;").replace("<", "&lt;")


def typ(src):
    import typst
    with tempfile.TemporaryDirectory() as d:
        with open(f"{d}/m.typ", "w", encoding="utf-8") as f:
            f.write("#set document(date: datetime(year: 2026, month: 1, day: 5))\n" + src)
        return calm(typst.compile(f"{d}/m.typ"))


def te(s):
    """Text for typst."""
    return re.sub(r"([\\#$*_@<>`\[\]~/=+:-])", r"\\\1", str(s))


def fpdf(fmt="letter", orientation="P", break_=False, margin=48):
    from fpdf import FPDF

    class Paper(FPDF):
        top = bottom = None

        def header(s):
            if s.top:
                s.top(s)

        def footer(s):
            if s.bottom:
                s.bottom(s)
    p = Paper(unit="pt", format=fmt, orientation=orientation)
    p.set_creation_date(dt.datetime(2026, 1, 5, 9, tzinfo=dt.timezone.utc))
    p.set_auto_page_break(break_, 54)
    p.set_margins(margin, margin)
    return p


def latin(s):
    """Text that the core fonts of a PDF can show."""
    for a, b in (("–", "-"), ("—", "-"), ("’", "'"), ("“", '"'), ("”", '"'), ("•", "*"), ("№", "No"), ("…", "...")):
        s = str(s).replace(a, b)
    return s.encode("latin-1", "replace").decode("latin-1")


class Draw:
    """A reportlab canvas measured from the top of the page."""

    def __init__(s, size=(612, 792), producer="Policy Print"):
        from reportlab.pdfgen import canvas
        s.b = io.BytesIO()
        s.W, s.H = size
        s.c = canvas.Canvas(s.b, pagesize=size, invariant=1)
        s.c.setProducer(producer)
        s.c.setCreator(producer)
        s.c.setTitle("")

    def t(s, x, y, v, f="Helvetica", z=9):
        s.c.setFont(f, z)
        s.c.drawString(x, s.H - y, str(v))

    def r(s, x, y, v, f="Helvetica", z=9):
        s.c.setFont(f, z)
        s.c.drawRightString(x, s.H - y, str(v))

    def m(s, x, y, v, f="Helvetica", z=9):
        s.c.setFont(f, z)
        s.c.drawCentredString(x, s.H - y, str(v))

    def box(s, x, y, w, h, fill=None):
        s.c.setLineWidth(.5)
        if fill:
            s.c.setFillGray(fill)
        s.c.rect(x, s.H - y - h, w, h, fill=1 if fill else 0)
        s.c.setFillGray(0)

    def line(s, x, y, x2, y2):
        s.c.setLineWidth(.4)
        s.c.line(x, s.H - y, x2, s.H - y2)

    def tick(s, x, y, on, z=7):
        s.box(x, y - z, z, z)
        if on:
            s.line(x + 1, y - z + 1, x + z - 1, y - 1)
            s.line(x + z - 1, y - z + 1, x + 1, y - 1)

    def wrap(s, x, y, w, v, f="Helvetica", z=8, lead=10):
        from reportlab.lib.utils import simpleSplit
        for part in str(v).split("\n"):
            for line in simpleSplit(part, f, z, w):
                s.t(x, y, line, f, z)
                y += lead
        return y

    def side(s, x, y, v, f="Helvetica-Bold", z=11):
        s.c.saveState()
        s.c.translate(x, s.H - y)
        s.c.rotate(90)
        s.c.setFont(f, z)
        s.c.drawString(0, 0, v)
        s.c.restoreState()

    def image(s, data, x, y, w, h):
        from reportlab.lib.utils import ImageReader
        s.c.drawImage(ImageReader(io.BytesIO(data)), x, s.H - y - h, w, h)

    def page(s):
        s.c.showPage()

    def done(s):
        s.c.showPage()
        s.c.save()
        return s.b.getvalue()


def wide(v, f, z):
    from reportlab.pdfbase.pdfmetrics import stringWidth
    return stringWidth(str(v), f, z)


def platypus(story, size=(612, 792), page=None, margin=48):
    """Flowing reportlab; `page(canvas, doc)` draws what stands on every page."""
    from reportlab.platypus import SimpleDocTemplate
    b = io.BytesIO()
    d = SimpleDocTemplate(b, pagesize=size, leftMargin=margin, rightMargin=margin, topMargin=margin + 20, bottomMargin=margin, invariant=1)
    f = page or (lambda c, d: None)
    d.build(story, onFirstPage=f, onLaterPages=f)
    return b.getvalue()


def encrypt(pdf, password):
    import pikepdf
    with pikepdf.open(io.BytesIO(pdf)) as d:
        b = io.BytesIO()
        d.save(b, encryption=pikepdf.Encryption(owner=password + "-own", user=password, R=4))
        return b.getvalue()


def rotate(pdf, angle):
    import pikepdf
    with pikepdf.open(io.BytesIO(pdf)) as d:
        for p in d.pages:
            p.rotate(angle, relative=False)
        b = io.BytesIO()
        d.save(b, static_id=True)
        return b.getvalue()


def rezip(data):
    src, b = zipfile.ZipFile(io.BytesIO(data)), io.BytesIO()
    with zipfile.ZipFile(b, "w", zipfile.ZIP_DEFLATED) as z:
        for n in src.namelist():
            d = src.read(n)
            if n == "docProps/core.xml":
                d = re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"2026-01-05T09:00:00Z", d)
            z.writestr(zipfile.ZipInfo(n, (2026, 1, 5, 9, 0, 0)), d, zipfile.ZIP_DEFLATED)
    return b.getvalue()


def zipped(files):
    b = io.BytesIO()
    with zipfile.ZipFile(b, "w", zipfile.ZIP_DEFLATED) as z:
        for n, d in files.items():
            z.writestr(zipfile.ZipInfo(n, (2026, 1, 5, 9, 0, 0)), d, zipfile.ZIP_DEFLATED)
    return b.getvalue()


def docx(build):
    import docx as dx
    d = dx.Document()
    build(d)
    d.core_properties.author = "Office"
    d.core_properties.comments = ""
    b = io.BytesIO()
    d.save(b)
    return rezip(b.getvalue())


def docx_table(d, rows, style="Table Grid"):
    t = d.add_table(rows=0, cols=max(len(r) for r in rows))
    if style:
        t.style = style
    for r in rows:
        cells = t.add_row().cells
        for i, v in enumerate(r):
            cells[i].text = str(v)
    return t


def xlsx(sheets, hidden=(), widths=None):
    """sheets: {title: rows}."""
    from openpyxl import Workbook
    wb = Workbook()
    wb.remove(wb.active)
    for name, rows in sheets.items():
        ws = wb.create_sheet(name)
        for r in rows:
            ws.append(list(r))
        for c in "ABCDEFGHIJ":
            ws.column_dimensions[c].width = widths or 18
        if name in hidden:
            ws.sheet_state = "hidden"
    wb.properties.creator = "Office"
    b = io.BytesIO()
    wb.save(b)
    return rezip(b.getvalue())


def sheet(rows, sep=",", cs="utf-8", bom=False):
    b = io.StringIO()
    csv.writer(b, delimiter=sep, lineterminator="\r\n").writerows(rows)
    return (b"\xef\xbb\xbf" if bom else b"") + b.getvalue().encode(cs, "replace")


def picture(lines, seed, w=1000, h=1290, size=22, angle=.8, bg=(246, 244, 238), quality=32, noise=900):
    """A photo or scan of a paper. Lines: text, or (x, y, text, size)."""
    from PIL import Image, ImageDraw, ImageFilter, ImageFont
    r = random.Random(f"picture {seed}")
    im = Image.new("RGB", (w, h), bg)
    d = ImageDraw.Draw(im)
    y = 60
    for line in lines:
        if isinstance(line, tuple):
            d.text(line[:2], line[2], font=ImageFont.truetype(vera(), line[3]), fill=(35, 35, 42))
        else:
            d.text((60, y), line, font=ImageFont.truetype(vera(), size), fill=(35, 35, 42))
            y += int(size * 1.7)
    for _ in range(noise):
        d.point((r.randrange(w), r.randrange(h)), fill=tuple([r.randrange(90, 210)] * 3))
    im = im.rotate(angle, fillcolor=bg, resample=Image.BICUBIC).filter(ImageFilter.GaussianBlur(.5))
    b = io.BytesIO()
    im.save(b, "JPEG", quality=quality)
    return b.getvalue()


def said(lines):
    return [x[2] if isinstance(x, tuple) else x for x in lines]


def scan(*jpgs):
    p = Draw(producer="Scan Station 4")
    for i, j in enumerate(jpgs):
        if i:
            p.page()
        p.image(j, 0, 0, 612, 792)
    return p.done()


def logo(name, col, w=220, h=56):
    from PIL import Image, ImageDraw, ImageFont
    im = Image.new("RGB", (w, h), (255, 255, 255))
    d = ImageDraw.Draw(im)
    d.rectangle([6, 10, 40, 46], fill=col)
    d.text((52, 17), name, font=ImageFont.truetype(vera("Bd"), 17), fill=col)
    b = io.BytesIO()
    im.save(b, "PNG")
    return b.getvalue()
