"""Flat search: the rows nearest to a query, found exactly."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hyperhop._arrays import threads_argument
from hyperhop._topk import topk
from hyperhop.help.codes import RowCodes

Rows = npt.NDArray[np.floating[Any]]  # float32 or float16, unit or zero rows

_SCORES = 1 << 18  # held at once by a batch: 1 MiB of float32, which stays in the cache
_HALF_ROWS = 1024  # of float16, widened at once: they stay in the cache
_FEW = 4  # queries that codes answer sooner, one by one, than a matrix product does
_MANY_ROWS = 4096  # fewer stay in the cache whole
_LONG = 16  # candidates for each of the k, above which float32 picks from them first


Added = npt.NDArray[np.float64] | None  # to the cosines


class Nearest(NamedTuple):
    """Rows by score, best first: their cosines, with what was added to these."""

    rows: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]


class FlatSearch:
    """Finds the k rows of largest cosine; equal ones by rank, NaN after every number.

    Which rows may be among the k best is told by a product that is quick and has an error bound: a
    few queries read the rows as codes (`RowCodes`), many share a matrix product in float32. These
    rows are scored again one by one in float64, always in the same way. So the answer is the one
    that float64 gives: alone and in a batch, for any thread count and order of the rows.
    """

    def __init__(self, rows: Rows, ranks: npt.NDArray[np.int64] | None = None) -> None:
        """`rows` (n, d) are kept, not copied; `ranks` (n,) are distinct, None for their places.

        The codes, n (d + 8) bytes, are made when they are first needed.
        """
        self._rows, self._ranks = rows, ranks

    @cached_property
    def _codes(self) -> RowCodes:
        return RowCodes(self._rows)

    def search(
        self,
        queries: npt.NDArray[np.float32],
        k: int,
        threads: int | None = None,
        *,
        extra: npt.NDArray[np.float64] | None = None,
    ) -> list[Nearest]:
        """The min(k, n) nearest rows of each query, float32 (Q, d), of unit length or zero.

        `extra` (Q, n), of 0 to 1, is added to the cosines before they are compared and returned.

        O(Q n d) time; memory beyond the result is O(n) for few queries and bounded for many.
        """
        k = min(k, len(self._rows))
        if k == 0:
            return [Nearest(np.empty(0, np.int64), np.empty(0)) for _ in queries]
        added: Sequence[Added] = [None] * len(queries) if extra is None else list(extra)
        if len(queries) <= _FEW and len(self._rows) >= _MANY_ROWS:
            count = threads_argument(threads, "search")
            found = [
                self._codes.candidates(query, k, count, more)
                for query, more in zip(queries, added, strict=True)
            ]
        else:
            found = self._multiplied(queries, k, extra)
        return [self._best(*one, k) for one in zip(queries, found, added, strict=True)]

    def scores(
        self, query: npt.NDArray[np.float32], places: npt.NDArray[np.int64], extra: Added
    ) -> npt.NDArray[np.float64]:
        """Float64 score of some rows with a query; bits that do not depend on the other rows."""
        cosines = cosine_rows(self._rows[places], query)
        return cosines if extra is None else cosines + extra[places]

    def raised(
        self,
        query: npt.NDArray[np.float32],
        found: Nearest,
        places: npt.NDArray[np.int64],
        gain: float,
        extra: Added = None,
    ) -> Nearest:
        """What would have been found if the rows at `places` scored `gain` more, 0 or above.

        Another row that is then among the k best was so before. O(places + k).
        """
        if len(places) == 0:
            return found
        all_places = np.union1d(found.rows, places)
        scores = self.scores(query, all_places, extra) + gain * np.isin(all_places, places)
        return self._order(all_places, scores, len(found.rows))

    def _multiplied(
        self, queries: npt.NDArray[np.float32], k: int, extra: Added
    ) -> list[npt.NDArray[np.int64]]:
        """Rows among which the k best of each query are, by matrix products of blocks of rows."""
        margin = _margin(queries)
        size = max(_HALF_ROWS, _SCORES // max(1, len(queries)))
        memory = np.empty(len(queries) * min(size, len(self._rows)), np.float32)
        # No row below this is among the k best of its query. A NaN is never below.
        floor = np.full(len(queries), -np.inf, np.float32)
        found = []
        for start in range(0, len(self._rows), size):
            scores = self._products(queries, start, size, memory)
            if extra is not None:
                scores += extra[:, start : start + size].astype(np.float32)
            if scores.shape[1] >= k:
                floor = np.fmax(floor, topk(scores, k)[1][:, -1] - margin)
            hits = np.flatnonzero(~(scores < floor[:, None]))
            whose, places = np.divmod(hits, scores.shape[1])
            found.append((whose, start + places, scores[whose, places]))
        whose, places, values = (np.concatenate(parts) for parts in zip(*found, strict=True))
        kept = ~(values < floor[whose])
        whose, places = whose[kept], places[kept]
        ends = np.cumsum(np.bincount(whose, minlength=len(queries)))
        return np.split(places[np.argsort(whose, kind="stable")], ends[:-1])

    def _products(
        self,
        queries: npt.NDArray[np.float32],
        start: int,
        size: int,
        memory: npt.NDArray[np.float32],
    ) -> npt.NDArray[np.float32]:
        """Scores (Q, size) of one block of rows; float16 is widened a little at a time."""
        block = self._rows[start : start + size]
        scores = memory[: len(queries) * len(block)].reshape(len(queries), len(block))
        if block.dtype == np.float32:
            return np.matmul(queries, block.T, out=scores)
        for first in range(0, len(block), _HALF_ROWS):
            part = block[first : first + _HALF_ROWS].astype(np.float32)
            scores[:, first : first + len(part)] = queries @ part.T
        return scores

    def _best(
        self,
        query: npt.NDArray[np.float32],
        places: npt.NDArray[np.int64],
        extra: Added,
        k: int,
    ) -> Nearest:
        """The k best of some rows that hold them, by their scores in float64."""
        if len(places) > _LONG * k:
            scores = self._rows[places].astype(np.float32, copy=False) @ query
            if extra is not None:
                scores += extra[places].astype(np.float32)
            kept = _at_least(scores, topk(scores, k)[1][-1] - _margin(query[None]))
            places = places[kept]
        return self._order(places, self.scores(query, places, extra), k)

    def _order(
        self, places: npt.NDArray[np.int64], scores: npt.NDArray[np.float64], k: int
    ) -> Nearest:
        ranks = places if self._ranks is None else self._ranks[places]
        order = np.lexsort((ranks, -scores))[:k]
        return Nearest(places[order], scores[order])


def _margin(queries: npt.NDArray[np.float32]) -> float:
    """How far two scores in float32, products summed in any order, may err in all."""
    dim: int = queries.shape[1]
    return (dim + 4) * 2.0**-22


def _at_least(scores: npt.NDArray[np.float32], least: float) -> npt.NDArray[np.int64]:
    """Places of the scores that reach `least`; all where that is NaN, as too few are numbers."""
    return np.flatnonzero(scores >= least) if least == least else np.arange(len(scores))


def cosine_rows(rows: Rows, query: Rows) -> npt.NDArray[np.float64]:
    """Float64 cosine of each row with a query, both of unit length or zero, at most 1.

    A row's bits do not depend on the other rows. O(rows d).
    """
    products = rows.astype(np.float64) * query.astype(np.float64)
    cosines: npt.NDArray[np.float64] = np.minimum(products.sum(axis=1), 1.0)
    return cosines
