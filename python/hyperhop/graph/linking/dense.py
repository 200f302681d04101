"""Texts with a meaning close to another's, by an encoder."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hyperhop.graph.linking.lexicon import Texts
from hyperhop.graph.linking.nearest import nearest
from hyperhop.text import TextEncoder

_BATCH = 4_096  # texts encoded at once


class DenseTexts:
    """Texts by the cosine of their vectors; encoded when first needed, then kept."""

    def __init__(self, texts: Texts, encoder: TextEncoder) -> None:
        self._texts = texts
        self._encoder = encoder

    def closest(
        self, texts: Sequence[str], count: int, least: float
    ) -> list[list[tuple[list[int], float]]]:
        """For each text what the `count` nearest mean, best first, if a cosine reaches `least`.

        See `nearest`; equal ones by text, in the order of which the rows are.
        """
        if len(self._rows) == 0 or not texts:
            return [[] for _ in texts]
        queries = _encode(self._encoder, texts)
        return [self._meant(*found, least) for found in nearest(queries, self._rows, count)]

    def _meant(
        self, rows: npt.NDArray[np.int64], products: npt.NDArray[np.float64], least: float
    ) -> list[tuple[list[int], float]]:
        cosines = np.clip(products, 0.0, 1.0).tolist()
        return [
            (list(self._texts.entities(text)), cosine)
            for text, cosine in zip(self._ids[rows].tolist(), cosines, strict=True)
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
