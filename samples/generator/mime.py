"""A plain MIME writer: every boundary, fold and encoding is decided here."""

import base64
import quopri
from email.header import Header
from email.utils import format_datetime

CRLF = b"\r\n"


def _wrap(data: bytes) -> bytes:
    return base64.encodebytes(data).replace(b"\n", CRLF)


def _lines(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").replace(b"\n", CRLF)


def words(text: str, charset="utf-8") -> str:
    """A header value; encoded words only where ASCII does not do."""
    return text if text.isascii() else Header(text, charset, maxlinelen=70).encode(linesep="\r\n")


def text(body: str, subtype="plain", charset="utf-8", how="quoted-printable") -> bytes:
    """A text part, headers included."""
    raw = body.encode(charset)
    encoded = {"base64": _wrap, "quoted-printable": lambda d: _lines(quopri.encodestring(d)),
               "7bit": _lines, "8bit": _lines}[how](raw)
    head = f"Content-Type: text/{subtype}; charset={charset}\r\nContent-Transfer-Encoding: {how}\r\n\r\n"
    return head.encode() + encoded


def file(name: str, ctype: str, data: bytes, inline_id=None) -> bytes:
    """An attachment, or with `inline_id` a picture that the HTML refers to."""
    kind = "inline" if inline_id else "attachment"
    head = (f'Content-Type: {ctype}; name="{name}"\r\nContent-Transfer-Encoding: base64\r\n'
            f'Content-Disposition: {kind}; filename="{name}"\r\n')
    if inline_id:
        head += f"Content-ID: <{inline_id}>\r\n"
    return head.encode() + CRLF + _wrap(data)


def multi(subtype: str, boundary: str, *parts: bytes) -> bytes:
    """A multipart entity, headers included."""
    head = f'Content-Type: multipart/{subtype}; boundary="{boundary}"\r\n\r\n'.encode()
    mark = b"--" + boundary.encode()
    return head + b"".join(mark + CRLF + part.rstrip(b"\r\n") + CRLF + CRLF for part in parts) + mark + b"--" + CRLF


def nested(message: bytes) -> bytes:
    """A whole message as an attachment."""
    return b"Content-Type: message/rfc822\r\nContent-Disposition: attachment; filename=\"forwarded.eml\"\r\n\r\n" + message


def message(sender: str, to: str, subject: str, day, number: int, entity: bytes, charset="utf-8", extra=()) -> bytes:
    """A whole mail. `number` makes its Message-ID, `day` its date."""
    host = sender.split("@")[1].rstrip(">")
    rows = [f"Received: from mx.{host} by mx.ironwoodlane.example with ESMTPS; {format_datetime(day)}",
            f"Date: {format_datetime(day)}", f"From: {words(sender, charset)}", f"To: {to}",
            f"Subject: {words(subject, charset)}", f"Message-ID: <20260{number:03d}.{number * 7919:06d}@{host}>",
            *extra, "MIME-Version: 1.0"]
    return "\r\n".join(rows).encode("ascii") + CRLF + entity
