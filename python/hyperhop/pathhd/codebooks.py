"""Hypervectors of relations, and of questions of which nothing is planned (PathHD eq. 1, 2)."""

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from hyperhop import ghrr
from hyperhop.ghrr.semantic import SemanticMap
from hyperhop.pathhd.planners.features import masked
from hyperhop.pathhd.planners.protocol import Span
from hyperhop.pathhd.query import Planes
from hyperhop.text import TextEncoder
from hyperhop.text.batches import encode_queries

CodebookKind = Literal["random", "semantic", "projected"]


def check_kind(kind: str) -> None:
    """ValueError for no CodebookKind."""
    if kind not in get_args(CodebookKind):
        expected = ", ".join(get_args(CodebookKind))
        raise ValueError(f"PathHD: codebook must be one of {expected}, got {kind!r}")


def text_codebook(
    kind: CodebookKind,
    symbols: Sequence[str],
    texts: Sequence[str],
    encoder: TextEncoder,
    blocks: int,
    block_size: int,
    seed: int,
) -> ghrr.Codebook:
    """The codebook "semantic" or "projected" of symbols that read as `texts`.

    Symbols of one text are one hypervector. ValueError, naming the symbol, for a text that the
    encoder gives a zero row where blocks must be unitary ("semantic").
    """
    rows = encoder.encode(texts)
    if kind == "semantic":
        return ghrr.Codebook.from_embeddings(symbols, rows, blocks, block_size, seed=seed)
    projection = ghrr.TextProjection(rows.shape[1], blocks, block_size, seed)
    return ghrr.Codebook.from_blocks(symbols, projection.planes(rows))


class TextQuery:
    """A question as a hypervector by its embedding alone: no plan plays a part (eq. 2).

    The map is that of the codebook. With "projected" both are the random projection P: a single
    relation scores about the cosine of its text with the question, and any sequence of two or more
    is at chance, because a product of projections has nothing in common with a projection. With
    "semantic" both are the semantic map, in which sequences keep a little of what their relations
    have in common with the question. With "random" it is P, and everything is at chance: nothing
    ties random symbols to texts.
    """

    def __init__(
        self, kind: CodebookKind, encoder: TextEncoder, blocks: int, block_size: int, seed: int
    ) -> None:
        self._encoder = encoder
        make = SemanticMap if kind == "semantic" else ghrr.TextProjection
        self._map = make(encoder.dim, blocks, block_size, seed=seed)

    def __call__(self, question: str, mention: Span | None, threads: int | None = None) -> Planes:
        """Planes float32 (m, m, 2, D); zero for a question without words besides its topic."""
        text = " ".join(masked(question, mention).replace("_", " ").split())
        row = encode_queries(self._encoder, [text])
        planes = self._map.planes(row, threads)[0]
        return planes if row.any() else np.zeros_like(planes)
