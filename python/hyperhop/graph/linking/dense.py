"""Texts with a meaning close to another's, by an encoder."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._topk import topk
from hyperhop.graph.linking.lexicon import Texts
from hyperhop.text import TextEncoder

_BATCH = 4_096  # texts encoded at once
_BLOCK = 65_536  # rows scored at once
_MARGIN = 32  # candidates beyond those wanted, so that the rounding of one product does not matter


class DenseTexts:
    """Texts by the cosine of their vectors; encoded when first needed, then kept."""

    def __init__(self, texts: Texts, encoder: TextEncoder) -> None:
        self._texts = texts
        self._encoder = encoder

    def closest(
        self, texts: Sequence[str], count: int, least: float
    ) -> list[list[tuple[list[int], float]]]:
        """For each text what the `count` nearest mean, best first, if a cosine reaches `least`.

        Searched by faiss where it is installed, else by NumPy; cosines of what was found are taken
        row by row, so both agree but for candidates within 1e-5 of the last. Equal ones: by text.
        """
        if len(self._rows) == 0 or not texts:
            return [[] for _ in texts]
        queries = _encode(self._encoder, texts)
        near = _search(queries, self._rows, min(count + _MARGIN, len(self._rows)))
        return [
            self._best(query, ids.tolist(), count, least)
            for query, ids in zip(queries, near, strict=True)
        ]

    def _best(
        self, query: npt.NDArray[np.float32], near: list[int], count: int, least: float
    ) -> list[tuple[list[int], float]]:
        texts = self._ids[near].tolist()
        products = (self._rows[near] * query).sum(axis=1, dtype=np.float64)
        cosines = np.clip(products, 0.0, 1.0).tolist()
        names = self._texts.names.names(texts)
        best = sorted(zip(cosines, names, texts, strict=True), key=lambda hit: (-hit[0], hit[1]))
        return [
            (list(self._texts.entities(text)), cosine)
            for cosine, _, text in best[:count]
            if cosine >= least
        ]

    @cached_property
    def _ids(self) -> npt.NDArray[np.int32]:
        """The id of each row; one that is out of use has none."""
        return np.asarray(self._texts.names.ids(0, len(self._texts.names)), np.int32)

    @cached_property
    def _rows(self) -> npt.NDArray[np.float32]:
        rows = np.empty((len(self._ids), self._encoder.dim), np.float32)
        for start in range(0, len(rows), _BATCH):
            stop = min(start + _BATCH, len(rows))
            texts = self._texts.names.names(self._ids[start:stop].tolist())
            rows[start:stop] = _encode(self._encoder, texts)
        return rows


def _encode(encoder: TextEncoder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Rows of texts with "_" read as a space, as in keys, and "?" for what is no character."""
    valid = [text.replace("_", " ").encode("utf-8", "replace").decode() for text in texts]
    return np.asarray(encoder.encode(valid), np.float32)


def _search(
    queries: npt.NDArray[np.float32], rows: npt.NDArray[np.float32], count: int
) -> npt.NDArray[np.int64]:
    """(queries, count) rows of the largest inner products."""
    faiss = _faiss()
    if faiss is not None:
        found: npt.NDArray[np.int64] = faiss.knn(
            queries, rows, count, metric=faiss.METRIC_INNER_PRODUCT
        )[1]
        return found
    best = np.zeros((len(queries), 0), np.int64)
    scores = np.zeros((len(queries), 0), np.float32)
    for start in range(0, len(rows), _BLOCK):
        block = queries @ rows[start : start + _BLOCK].T
        ids = np.broadcast_to(np.arange(start, start + block.shape[1]), block.shape)
        ids, scores = np.hstack([best, ids]), np.hstack([scores, block])
        kept, scores = topk(scores, count)
        best = np.take_along_axis(ids, kept, axis=1)
    return best


def _faiss() -> Any:
    try:
        import faiss
    except ImportError:
        return None
    return faiss
