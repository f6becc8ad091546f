"""Pictures: a scanned page without a text layer, and an agency's logo."""

import io
import os
import random

import reportlab
from PIL import Image, ImageDraw, ImageFilter, ImageFont
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen import canvas

from .facts import AGENCY, Account, money, us

FONTS = os.path.join(os.path.dirname(reportlab.__file__), "fonts")


def _font(size: int, bold=False):
    # reportlab brings this font along, so the picture is the same on every machine.
    return ImageFont.truetype(os.path.join(FONTS, "VeraBd.ttf" if bold else "Vera.ttf"), size,
                              layout_engine=ImageFont.Layout.BASIC)


def scanned_page(account: Account) -> Image.Image:
    """A dec page as a flatbed scanner sees it: grey, specked and a little crooked."""
    who, policy = account.insured, account.policies[0]
    page = Image.new("L", (1105, 1430), 246)
    draw = ImageDraw.Draw(page)
    draw.text((90, 80), policy.insurer.name, fill=40, font=_font(30, True))
    draw.text((90, 130), "Auto Liability Declarations", fill=50, font=_font(22))
    draw.line((90, 170, 1010, 170), fill=70, width=3)
    y = 210
    for label, value in (("Named Insured", who.name), ("Mailing Address", f"{who.street}, {who.city}"),
                         ("DOT Number", who.dot), ("Policy Number", policy.number),
                         ("Policy Period", f"{us(policy.effective)} to {us(policy.expiration)}"),
                         ("Premium", money(policy.premium)), ("Agency", AGENCY.name)):
        draw.rectangle((90, y, 1010, y + 48), outline=120, width=2)
        draw.text((104, y + 12), label, fill=70, font=_font(18, True))
        draw.text((360, y + 12), value, fill=45, font=_font(18))
        y += 48
    y += 40
    for v in account.vehicles:
        draw.text((104, y), f"{v.year}  {v.make}  {v.model}  {v.vin}", fill=45, font=_font(18))
        y += 36
    draw.text((104, y + 60), "Insured's copy", fill=110, font=_font(16))
    dice = random.Random(20260105)
    for _ in range(900):
        x, y = dice.randrange(1105), dice.randrange(1430)
        draw.point((x, y), fill=dice.randrange(90, 220))
    return page.rotate(0.7, resample=Image.Resampling.BILINEAR, fillcolor=238).filter(ImageFilter.GaussianBlur(0.6))


def scan_pdf(account: Account) -> bytes:
    """The scanned page as a PDF that holds one picture and no text."""
    jpeg = io.BytesIO()
    scanned_page(account).save(jpeg, "JPEG", quality=42)
    out = io.BytesIO()
    c = canvas.Canvas(out, pagesize=(612, 792), invariant=1)
    c.setTitle("Scan")
    c.setCreator("Flatbed 300")
    c.drawImage(ImageReader(io.BytesIO(jpeg.getvalue())), 0, 0, 612, 792)
    c.save()
    return out.getvalue()


def logo_png() -> bytes:
    """A small logo for a mail's signature."""
    image = Image.new("RGB", (220, 56), "white")
    draw = ImageDraw.Draw(image)
    draw.polygon([(8, 48), (28, 8), (48, 48)], fill=(47, 93, 67))
    draw.rectangle((24, 48, 32, 54), fill=(138, 59, 30))
    draw.text((58, 10), "Ironwood Lane", fill=(29, 39, 51), font=_font(18, True))
    draw.text((58, 34), "Insurance Agency", fill=(90, 100, 112), font=_font(12))
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()
