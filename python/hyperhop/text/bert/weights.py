"""Weights of a BERT-style encoder, laid out for the forward pass."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._extras import optional
from hyperhop.text.bert.folder import BertConfig

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class Linear:
    """y = x @ weight + bias; weight is (in, out)."""

    weight: Floats
    bias: Floats


@dataclass(frozen=True)
class Norm:
    """Scale and shift of a layer normalisation."""

    scale: Floats
    shift: Floats


@dataclass(frozen=True)
class Layer:
    """One layer. `query`, `key` and `value` are one product; the query is scaled already."""

    query_key_value: Linear
    attention: Linear
    attention_norm: Norm
    up: Linear
    down: Linear
    norm: Norm


@dataclass(frozen=True)
class Bert:
    """Embedding tables and layers; `places` holds the position and the token type in one row."""

    words: Floats
    places: Floats
    norm: Norm
    layers: tuple[Layer, ...]

    def embed(self, ids: npt.NDArray[np.int64]) -> Floats:
        """What the first layer's norm is given: float32 (texts, length, width)."""
        return np.asarray(self.words[ids] + self.places[: ids.shape[1]], np.float32)


def load_bert(folder: Path, config: BertConfig) -> Bert:
    """Read model.safetensors as float32. ValueError if a tensor is missing or of another shape."""
    path = folder / "model.safetensors"
    safetensors = optional("safetensors", "MiniLM", "minilm")
    numpy_files = optional("safetensors.numpy", "MiniLM", "minilm")
    try:
        stored = numpy_files.load_file(path)
    except (safetensors.SafetensorError, TypeError, KeyError) as error:
        raise ValueError(f"{path}: not readable as float32 or float16 ({error})") from None
    tensors = _Tensors(path, stored)
    width = config.width
    return Bert(
        words=tensors.take("embeddings.word_embeddings.weight", (None, width)),
        places=(
            tensors.take("embeddings.position_embeddings.weight", (None, width))
            + tensors.take("embeddings.token_type_embeddings.weight", (None, width))[0]
        ),
        norm=tensors.norm("embeddings.LayerNorm", width),
        layers=tuple(_layer(tensors, config, number) for number in range(config.layers)),
    )


def _layer(tensors: "_Tensors", config: BertConfig, number: int) -> Layer:
    place, width = f"encoder.layer.{number}.", config.width
    parts = [
        tensors.linear(f"{place}attention.self.{name}", width, width)
        for name in ("query", "key", "value")
    ]
    # softmax(q k / sqrt(size)): the division is done here once
    size = np.float32(np.sqrt(width / config.heads))
    parts[0] = Linear(parts[0].weight / size, parts[0].bias / size)
    up = tensors.linear(place + "intermediate.dense", width, None)
    return Layer(
        Linear(np.hstack([p.weight for p in parts]), np.hstack([p.bias for p in parts])),
        tensors.linear(place + "attention.output.dense", width, width),
        tensors.norm(place + "attention.output.LayerNorm", width),
        up,
        tensors.linear(place + "output.dense", up.weight.shape[1], width),
        tensors.norm(place + "output.LayerNorm", width),
    )


class _Tensors:
    """Tensors of a file by name, checked as they are taken."""

    def __init__(self, path: Path, stored: dict[str, Any]) -> None:
        self._path = path
        self._stored = {name.removeprefix("bert."): value for name, value in stored.items()}

    def take(self, name: str, shape: tuple[int | None, ...]) -> Floats:
        """A tensor whose shape must be this; None stands for any length."""
        if name not in self._stored:
            raise ValueError(f"{self._path}: there is no tensor {name}")
        tensor = np.asarray(self._stored[name], np.float32)
        fits = len(shape) == tensor.ndim and all(
            want in (None, got) for want, got in zip(shape, tensor.shape, strict=True)
        )
        if not fits:
            raise ValueError(f"{self._path}: {name} must be {shape}, got {tensor.shape}")
        return tensor

    def linear(self, name: str, width: int, out: int | None) -> Linear:
        """Stored as (out, in)."""
        weight = self.take(f"{name}.weight", (out, width))
        bias = self.take(f"{name}.bias", (weight.shape[0],))
        return Linear(np.ascontiguousarray(weight.T), bias)

    def norm(self, name: str, width: int) -> Norm:
        """Scale and shift."""
        return Norm(self.take(f"{name}.weight", (width,)), self.take(f"{name}.bias", (width,)))
