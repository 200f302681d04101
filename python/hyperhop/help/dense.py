"""Flat search: the rows nearest to a query, found exactly."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperhop._topk import topk

Rows = npt.NDArray[np.floating[Any]]  # float32 or float16, unit or zero rows

_SCORES = 1 << 22  # held at once by a batch: 16 MiB of float32
_HALF_ROWS = 1024  # of float16, widened at once: they stay in the cache


class Nearest(NamedTuple):
    """Rows by cosine, best first."""

    rows: npt.NDArray[np.int64]
    cosines: npt.NDArray[np.float64]


class FlatSearch:
    """Finds the k rows of largest cosine; equal ones by rank, NaN after every number.

    Rows are scored by a matrix product in float32; those that may be among the k best by its error
    bound are scored again one by one in float64, always in the same way. So the answer is the one
    that float64 gives, whichever product was used: alone and in a batch, for any thread count and
    order of the rows.
    """

    def __init__(self, rows: Rows, ranks: npt.NDArray[np.int64] | None = None) -> None:
        """`rows` (n, d) are kept, not copied; `ranks` (n,) are distinct, None for their places."""
        self._rows, self._ranks = rows, ranks

    def search(self, queries: npt.NDArray[np.float32], k: int) -> list[Nearest]:
        """The min(k, n) nearest rows of each query, float32 (Q, d), of unit length or zero.

        O(Q n d); memory beyond the result is bounded for Q > 1, and n scores for Q = 1.
        """
        k = min(k, len(self._rows))
        if k == 0:
            return [Nearest(np.empty(0, np.int64), np.empty(0)) for _ in queries]
        # Products of unit vectors err by d / 2^24 each, whatever the order of the sum.
        margin = queries.shape[1] * 2.0**-22
        places: list[list[npt.NDArray[np.int64]]] = [[] for _ in queries]
        coarse: list[list[npt.NDArray[np.float32]]] = [[] for _ in queries]
        for start, scores in self._products(queries):
            _, best = topk(scores, k)
            for query, (row, last) in enumerate(zip(scores, best[:, -1] - margin, strict=True)):
                # without k numbers among them, `last` is NaN and all may be
                found = np.flatnonzero(row >= last) if last == last else np.arange(len(row))
                places[query].append(found + start)
                coarse[query].append(row[found])
        return [
            self._again(query, np.concatenate(at), np.concatenate(scored), k, margin)
            for query, at, scored in zip(queries, places, coarse, strict=True)
        ]

    def _products(
        self, queries: npt.NDArray[np.float32]
    ) -> Iterator[tuple[int, npt.NDArray[np.float32]]]:
        """(first row, scores (Q, rows)) of one block of rows after another."""
        rows = self._rows
        if rows.dtype == np.float32 and len(queries) == 1:
            yield 0, (rows @ queries[0])[None]
            return
        size = max(_HALF_ROWS, _SCORES // max(1, len(queries)))
        for start in range(0, len(rows), size):
            block = rows[start : start + size]
            if block.dtype == np.float32:
                yield start, queries @ block.T
                continue
            scores = np.empty((len(queries), len(block)), np.float32)
            for first in range(0, len(block), _HALF_ROWS):
                part = block[first : first + _HALF_ROWS].astype(np.float32)
                scores[:, first : first + len(part)] = queries @ part.T
            yield start, scores

    def _again(
        self,
        query: npt.NDArray[np.float32],
        places: npt.NDArray[np.int64],
        coarse: npt.NDArray[np.float32],
        k: int,
        margin: float,
    ) -> Nearest:
        """The k best of some rows that hold them, by their cosines in float64."""
        last = topk(coarse, k)[1][-1] - margin
        if last == last:
            places = places[coarse >= last]
        cosines = cosine_rows(self._rows[places], query)
        ranks = places if self._ranks is None else self._ranks[places]
        order = np.lexsort((ranks, -cosines))[:k]
        return Nearest(places[order], cosines[order])


def cosine_rows(rows: Rows, query: Rows) -> npt.NDArray[np.float64]:
    """Float64 cosine of each row with a query, both of unit length or zero, at most 1.

    A row's bits do not depend on the other rows. O(rows d).
    """
    products = rows.astype(np.float64) * query.astype(np.float64)
    cosines: npt.NDArray[np.float64] = np.minimum(products.sum(axis=1), 1.0)
    return cosines
