"""Building blocks for faulty files: hand-made PDFs, OLE containers, bombs."""

import io
import struct
import zipfile
import zlib

from .office import put


def pdf(objects: dict, root: int = 1) -> bytes:
    """A well-formed PDF file around hand-written objects."""
    out, places = io.BytesIO(), {}
    out.write(b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
    for number, body in sorted(objects.items()):
        places[number] = out.tell()
        out.write(b"%d 0 obj\n" % number + body + b"\nendobj\n")
    start, size = out.tell(), max(objects) + 1
    out.write(b"xref\n0 %d\n0000000000 65535 f \n" % size)
    for number in range(1, size):
        out.write(b"%010d 00000 n \n" % places[number] if number in places else b"0000000000 65535 f \n")
    out.write(b"trailer\n<< /Size %d /Root %d 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (size, root, start))
    return out.getvalue()


def pdf_looped_xref() -> bytes:
    """Two cross-reference sections that name each other; neither knows the catalogue."""
    head, entry = b"%PDF-1.4\n", b"xref\n0 1\n0000000000 65535 f \ntrailer\n<< /Size 9 /Root 7 0 R /Prev %04d >>\n"
    first = len(head)
    second = first + len(entry % 0)
    return head + entry % second + entry % first + b"startxref\n%d\n%%%%EOF\n" % second


def pdf_bomb(megabytes: int) -> bytes:
    """One page whose content expands twice, to the given size."""
    inner = zlib.compressobj(9)
    block = b"BT (x) Tj ET\n" * 80_660
    squeezed = b"".join(inner.compress(block) for _ in range(megabytes)) + inner.flush()
    twice = zlib.compress(squeezed, 9)
    return pdf({1: b"<< /Type /Catalog /Pages 2 0 R >>", 2: b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
                3: b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R >>",
                4: b"<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n" % len(twice) + twice + b"\nendstream"})


def archive(members: dict) -> bytes:
    """A ZIP file; a member may be bytes or (megabytes, head, filler, tail)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compresslevel=9) as zipped:
        for name, body in members.items():
            if isinstance(body, tuple):
                megabytes, head, filler, tail = body
                body = head + filler * (megabytes * 1_000_000 // len(filler)) + tail
            put(zipped, name, body)
    return out.getvalue()


def replaced(office_file: bytes, changes: dict) -> bytes:
    """The same Office file with some members changed, or left out where None."""
    with zipfile.ZipFile(io.BytesIO(office_file)) as old:
        members = {item.filename: old.read(item.filename) for item in old.infolist()}
    members |= changes
    return archive({name: body for name, body in members.items() if body is not None})


def ole(streams: dict) -> bytes:
    """An OLE compound file (the container of old and of encrypted Office files)."""
    sector, end, free = 512, 0xFFFFFFFE, 0xFFFFFFFF
    fat, blobs, entries = [0xFFFFFFFD, end], b"", []
    for name, body in streams.items():
        # Streams under 4096 bytes would need a second allocation table: pad them.
        body = body.ljust(-(-max(len(body), 4096) // sector) * sector, b" ")
        start, count = len(fat), len(body) // sector
        fat += [start + n + 1 for n in range(count - 1)] + [end]
        entries.append((name, start, len(body)))
        blobs += body
    if len(fat) > 128 or len(entries) > 3:
        raise ValueError("one table sector and one directory sector is all this writer knows")

    def entry(name, kind, left, right, child, start, size):
        raw = (name + "\0").encode("utf-16-le")
        return (raw.ljust(64, b"\0") + struct.pack("<HBBIII", len(raw) if name else 0, kind, 1, left, right, child)
                + bytes(36) + struct.pack("<IQ", start, size))

    directory = entry("Root Entry", 5, free, free, 1 if entries else free, end, 0)
    for n, (name, start, size) in enumerate(entries, 1):
        right = n + 1 if n < len(entries) else free
        directory += entry(name, 2, free, right, free, start, size)
    directory = directory.ljust(sector, b"\0")
    head = bytes.fromhex("D0CF11E0A1B11AE1") + bytes(16) + struct.pack("<HHHHH", 0x3E, 3, 0xFFFE, 9, 6) + bytes(6)
    head += struct.pack("<IIIIIIIII", 0, 1, 1, 0, 4096, end, 0, end, 0) + struct.pack("<109I", 0, *[free] * 108)
    table = struct.pack(f"<{len(fat)}I", *fat).ljust(sector, b"\xff")
    return head + table + directory + blobs


def encrypted_office(noise: bytes) -> bytes:
    """What an office suite saves when a password is set."""
    info = (b'\x04\x00\x04\x00\x40\x00\x00\x00<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'
            b'<encryption xmlns="http://schemas.microsoft.com/office/2006/encryption"><keyData saltSize="16" '
            b'blockSize="16" keyBits="256" hashSize="64" cipherAlgorithm="AES" cipherChaining="ChainingModeCBC" '
            b'hashAlgorithm="SHA512" saltValue="AAECAwQFBgcICQoLDA0ODw=="/></encryption>')
    return ole({"EncryptedPackage": struct.pack("<Q", len(noise)) + noise, "EncryptionInfo": info})
