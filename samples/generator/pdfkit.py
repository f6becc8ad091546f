"""Small helpers over reportlab, so that each layout reads like its page."""

import io

from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.pagesizes import letter
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.units import inch
from reportlab.pdfgen import canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Table, TableStyle

INK, RULE, SHADE = colors.HexColor("#1d2733"), colors.HexColor("#8894a3"), colors.HexColor("#e9edf2")
NAVY, RUST, MOSS = colors.HexColor("#1c3557"), colors.HexColor("#8a3b1e"), colors.HexColor("#2f5d43")


def style(name="Helvetica", size=9, lead=None, color=INK, **more) -> ParagraphStyle:
    return ParagraphStyle(f"{name}{size}", fontName=name, fontSize=size,
                          leading=lead or size * 1.28, textColor=color, **more)


BODY, BOLD, SMALL = style(), style("Helvetica-Bold"), style(size=7.2)


def p(text: str, st: ParagraphStyle = BODY) -> Paragraph:
    return Paragraph(text.replace("&", "&amp;"), st)


def grid(rows, widths, head=True, font="Helvetica", size=8.2, right=(), tint=SHADE) -> Table:
    """A ruled table; `right` names the columns that are aligned right."""
    rules = [("FONT", (0, 0), (-1, -1), font, size), ("TEXTCOLOR", (0, 0), (-1, -1), INK),
             ("GRID", (0, 0), (-1, -1), 0.4, RULE), ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
             ("TOPPADDING", (0, 0), (-1, -1), 2.6), ("BOTTOMPADDING", (0, 0), (-1, -1), 2.6)]
    if head:
        bold = {"Helvetica": "Helvetica-Bold", "Times-Roman": "Times-Bold", "Courier": "Courier-Bold"}[font]
        rules += [("FONT", (0, 0), (-1, 0), bold, size), ("BACKGROUND", (0, 0), (-1, 0), tint)]
    rules += [("ALIGN", (c, 0), (c, -1), "RIGHT") for c in right]
    return Table(rows, colWidths=[w * inch for w in widths], style=TableStyle(rules),
                 repeatRows=1 if head else 0, hAlign="LEFT")


def flow(story, title: str, author: str, on_page=None, margin=0.8, top=0.8) -> bytes:
    """A document that breaks its own pages."""
    out = io.BytesIO()
    doc = SimpleDocTemplate(out, pagesize=letter, title=title, author=author, creator="Policy Print 4",
                            leftMargin=margin * inch, rightMargin=margin * inch,
                            topMargin=top * inch, bottomMargin=0.8 * inch, invariant=1)
    nothing = lambda c, d: None
    # Flowing documents carry plain Flate streams; those of Sheet stay in ASCII85 over
    # Flate, so that readers meet both.
    rl_config.useA85 = 0
    try:
        doc.build(story, onFirstPage=on_page or nothing, onLaterPages=on_page or nothing)
    finally:
        rl_config.useA85 = 1
    return out.getvalue()


class Sheet:
    """One canvas with a cursor measured in inches from the top left corner."""

    def __init__(self, title: str, author: str, encrypt=None):
        self.out = io.BytesIO()
        self.c = canvas.Canvas(self.out, pagesize=letter, invariant=1, encrypt=encrypt)
        self.c.setTitle(title)
        self.c.setAuthor(author)
        self.c.setCreator("Policy Print 4")

    def text(self, x, y, words, font="Helvetica", size=9, color=INK, align="left"):
        self.c.setFont(font, size)
        self.c.setFillColor(color)
        draw = {"left": self.c.drawString, "right": self.c.drawRightString,
                "center": self.c.drawCentredString}[align]
        draw(x * inch, 792 - y * inch, words)

    def line(self, x1, y1, x2, y2, width=0.5, color=RULE):
        self.c.setStrokeColor(color)
        self.c.setLineWidth(width)
        self.c.line(x1 * inch, 792 - y1 * inch, x2 * inch, 792 - y2 * inch)

    def box(self, x, y, w, h, fill=None, width=0.6, color=INK):
        self.c.setStrokeColor(color)
        self.c.setLineWidth(width)
        if fill is not None:
            self.c.setFillColor(fill)
        self.c.rect(x * inch, 792 - (y + h) * inch, w * inch, h * inch, stroke=1, fill=int(fill is not None))

    def field(self, x, y, w, h, label, value, size=9):
        """A form box: small label in its upper left corner, the value below."""
        self.box(x, y, w, h)
        self.text(x + 0.05, y + 0.12, label, size=5.8)
        for n, row in enumerate(value.split("\n")):
            self.text(x + 0.07, y + 0.29 + n * 0.155, row, "Courier", size)

    def tick(self, x, y, label, on: bool):
        self.box(x, y, 0.12, 0.12)
        if on:
            self.text(x + 0.022, y + 0.105, "X", "Courier-Bold", 9)
        self.text(x + 0.18, y + 0.1, label, size=7.5)

    def place(self, table, x, y):
        """Draw a table with its upper left corner here; returns the y below it."""
        _, height = table.wrap(7.5 * inch, 10 * inch)
        table.drawOn(self.c, x * inch, 792 - y * inch - height)
        return y + height / inch

    def next_page(self):
        self.c.showPage()

    def done(self) -> bytes:
        self.c.save()
        return self.out.getvalue()
