"""The forward pass of BERT in NumPy (Devlin et al., 2019), for texts of one length."""

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional
from hyperhop.text.bert.folder import BertConfig
from hyperhop.text.bert.weights import Bert, Floats, Linear, Norm

Forward = Callable[[npt.NDArray[np.int64]], Floats]


def numpy_forward(bert: Bert, config: BertConfig) -> Forward:
    """Function from token ids, int64 (texts, length), to float32 states (texts, length, width)."""
    erf = optional("scipy.special", "MiniLM with the backend numpy", "minilm").erf

    def forward(ids: npt.NDArray[np.int64]) -> Floats:
        texts, length = ids.shape
        states = _normed(bert.embed(ids), bert.norm, config.eps)
        states = states.reshape(texts * length, config.width)
        for layer in bert.layers:
            mixed = _attend(_apply(states, layer.query_key_value), texts, config.heads)
            states = _normed(
                states + _apply(mixed, layer.attention), layer.attention_norm, config.eps
            )
            inner = _gelu(_apply(states, layer.up), erf)
            states = _normed(states + _apply(inner, layer.down), layer.norm, config.eps)
        return states.reshape(texts, length, config.width)

    return forward


def _apply(x: Floats, linear: Linear) -> Floats:
    return np.asarray(x @ linear.weight + linear.bias, np.float32)


def _attend(joined: Floats, texts: int, heads: int) -> Floats:
    """Each text's tokens read each other; `joined` holds queries, keys and values side by side."""
    split = joined.reshape(texts, -1, 3, heads, joined.shape[1] // (3 * heads))
    queries, keys, values = split.transpose(2, 0, 3, 1, 4)
    scores = queries @ keys.transpose(0, 1, 3, 2)
    scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
    scores /= scores.sum(axis=-1, keepdims=True)
    mixed = (scores @ values).transpose(0, 2, 1, 3)
    return np.asarray(mixed.reshape(len(joined), -1), np.float32)


def _normed(x: Floats, norm: Norm, eps: float) -> Floats:
    centred = x - x.mean(axis=-1, keepdims=True)
    variance = np.square(centred).mean(axis=-1, keepdims=True)
    return np.asarray(centred / np.sqrt(variance + np.float32(eps)) * norm.scale + norm.shift)


def _gelu(x: Floats, erf: Any) -> Floats:
    return np.asarray(x * np.float32(0.5) * (1 + erf(x * np.float32(np.sqrt(0.5)))), np.float32)
