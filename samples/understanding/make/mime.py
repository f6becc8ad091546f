"""MIME by hand, so that the mails differ as mails of different programs do.

Promise: CRLF everywhere, no line over 998 bytes, the same bytes for the same random generator.
"""
import base64
import datetime as dt
import re
import zlib
from urllib.parse import quote

CR = b"\r\n"
PDF = "application/pdf"
XLSX = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
TYPES = {"pdf": PDF, "xlsx": XLSX, "docx": DOCX, "csv": "text/csv", "txt": "text/plain; charset=utf-8", "htm": "text/html; charset=utf-8", "html": "text/html; charset=utf-8", "zip": "application/zip",
         "jpg": "image/jpeg", "png": "image/png", "tsv": "text/tab-separated-values"}


def fold(b):
    return base64.encodebytes(b).replace(b"\n", CR).rstrip()


def quoted(b):
    out = []
    for line in b.split(b"\n"):
        cur = b""
        for i, c in enumerate(line):
            last = i == len(line) - 1
            e = bytes([c]) if (33 <= c <= 126 and c != 61) or (c in (32, 9) and not last) else b"=%02X" % c
            if len(cur) + len(e) > (76 if last else 75):
                out.append(cur + b"=")
                cur = b""
            cur += e
        out.append(cur)
    return CR.join(out)


def word(s, cs="utf-8", how="B"):
    """Encoded words when the text is not plain ASCII."""
    if all(32 <= ord(c) < 127 for c in s):
        return s
    out, cur = [], ""
    for c in s:
        if len((cur + c).encode(cs, "replace")) > 30:
            out.append(cur)
            cur = ""
        cur += c
    out.append(cur)

    def enc(t):
        b = t.encode(cs, "replace")
        if how == "B":
            return f"=?{cs}?B?{base64.b64encode(b).decode()}?="
        return f"=?{cs}?Q?" + "".join(chr(c) if chr(c).isalnum() and c < 128 else "_" if c == 32 else f"={c:02X}" for c in b) + "?="
    return "\r\n ".join(enc(t) for t in out)


def fits(s, cs):
    try:
        s.encode(cs)
        return True
    except UnicodeEncodeError:
        return False


def text(r, s, sub="plain"):
    """A text part in a charset that can hold it and in a random transfer encoding."""
    cs = r.choice(["utf-8", "utf-8", "us-ascii", "iso-8859-1", "windows-1252"])
    cs = cs if fits(s, cs) else "windows-1252" if fits(s, "cp1252") and r.random() < .4 else "utf-8"
    b = s.encode(cs)
    cte = r.choice(["quoted-printable", "quoted-printable", "base64", "8bit"])
    if max(map(len, b.split(b"\n"))) > 900 and cte == "8bit":
        cte = "quoted-printable"
    if cte == "8bit" and all(c < 128 for c in b):
        cte = "7bit"
    body = quoted(b) if cte == "quoted-printable" else fold(b) if cte == "base64" else b.replace(b"\n", CR)
    return f"Content-Type: text/{sub}; charset={r.choice([cs, chr(34) + cs + chr(34)])}\r\nContent-Transfer-Encoding: {cte}\r\n\r\n".encode() + body


def attach(r, name, data, ctype=None, inline=None):
    """A file as a part; the name is written in one of the ways that programs use."""
    ctype = ctype or TYPES.get(name.rsplit(".", 1)[-1].lower(), "application/octet-stream")
    if ctype == PDF and r.random() < .08:
        ctype = "application/octet-stream"
    plain = all(ord(c) < 127 for c in name)
    how = r.choice(["plain", "plain", "2231"]) if plain else r.choice(["2231", "2047"])
    fn = f'filename="{name}"' if how == "plain" else f"filename*=utf-8''{quote(name)}" if how == "2231" else f'filename="{word(name)}"'
    h = f"Content-Type: {ctype}" + (f';\r\n\tname="{name}"' if how == "plain" else "") + "\r\n"
    if inline:
        h += f"Content-ID: <{inline}>\r\n"
    h += f"Content-Disposition: {'inline' if inline else 'attachment'};\r\n\t{fn}\r\nContent-Transfer-Encoding: base64\r\n\r\n"
    return h.encode() + fold(data)


def multi(r, sub, *parts, params=""):
    h = f"{r.randrange(16**12):012x}"
    b = r.choice([f"_00{r.randrange(10)}_{h.upper()}prod_", f"----=_Part_{r.randrange(999)}_{int(h, 16)}", f"Apple-Mail=_{h.upper()}-9C1E", f"000000000000{h}06", f"b1={h}", f"------------{h}"])
    head = f'Content-Type: multipart/{sub};{params}\r\n\tboundary="{b}"\r\n\r\n'.encode()
    return head + b"".join(f"\r\n--{b}\r\n".encode() + p for p in parts) + f"\r\n--{b}--\r\n".encode()


def when(day, minutes, tz="-0500"):
    x = dt.date.fromisoformat(day)
    return f"{x:%a}, {x.day} {x:%b %Y} {minutes // 60:02d}:{minutes % 60:02d}:{minutes * 7 % 60:02d} {tz}"


def address(name, mail):
    if not name:
        return mail
    if any(ord(c) > 126 for c in name):
        return f"{word(name)} <{mail}>"
    return f'"{name}" <{mail}>' if re.search(r"[^\w .'-]", name) else f"{name} <{mail}>"


def nested(raw):
    return b"Content-Type: message/rfc822\r\nContent-Disposition: attachment\r\n\r\n" + raw


def mail(r, frm, to, subject, day, part, extra=(), auth="pass", ret=None, own="agency.example", minutes=None):
    """A whole message. frm and to: (name, address)."""
    dom = frm[1].split("@")[1]
    minutes = minutes or r.randrange(330, 1330)
    h = f"{r.randrange(16**10):010x}"
    tz = r.choice(["-0500", "-0600", "-0400", "-0700"])
    mid = r.choice([f"<{h}.{zlib.crc32(subject.encode()):08x}@{dom}>", f"<CA+{h}=w{h[::-1]}@mail.{dom}>", f"<{h[:8].upper()}-{h[4:8].upper()}-4A0B@{dom}>", f"<BN8PR{h.upper()}@BN8PR.namprd.{dom}>"])
    agent = r.choice([[], [], ["X-Mailer: Apple Mail (2.3774)"], ["User-Agent: Mozilla Thunderbird"], ["X-MS-Has-Attach: yes", "Thread-Topic: " + word(subject)], ["X-Mailer: iPhone Mail (22F76)"], ["Importance: normal"]])
    H = [f"Return-Path: <{frm[1] if ret is None else ret}>", f"Received: from mx.{dom} (mx.{dom} [192.0.2.{r.randrange(1, 254)}])\r\n\tby in.{own} with ESMTPS id {h}; {when(day, minutes, tz)}"]
    if auth:
        H.append(f"Authentication-Results: in.{own}; spf={auth} smtp.mailfrom={dom};\r\n\tdkim={auth} header.d={dom}; dmarc={auth}")
    H += [f"Date: {when(day, minutes, tz)}", f"From: {address(*frm)}", f"To: {address(*to)}", f"Subject: {word(subject, 'utf-8', r.choice('BQ'))}", f"Message-ID: {mid}", "MIME-Version: 1.0"]
    return ("\r\n".join(H + agent + list(extra)) + "\r\n").encode() + part
