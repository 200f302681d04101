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

_SCORES = 1 << 23  # held at once by a batch: 32 MiB of float32
_MANY_ROWS = 4096  # from here on codes are sooner read than rows multiplied, by one query or many
_LONG = 16  # candidates for each of the k, above which float32 picks from them first


Added = npt.NDArray[np.float64] | None  # to the cosines


class Nearest(NamedTuple):
    """Rows by score, best first: their cosines, with what was added to these."""

    rows: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]


class FlatSearch:
    """Finds the k rows of largest cosine; equal ones by rank, NaN after every number.

    Which rows may be among the k best is told by a product that is quick and has an error bound:
    many rows are read as codes (`RowCodes`), a few are multiplied in float32. These
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

        O(Q n d) time; memory beyond the result is O(n), and bounded in Q.
        """
        k = min(k, len(self._rows))
        if k == 0:
            return [Nearest(np.empty(0, np.int64), np.empty(0)) for _ in queries]
        count = threads_argument(threads, "search")
        nearest: list[Nearest] = []
        size = max(1, _SCORES // len(self._rows))
        for start in range(0, len(queries), size):
            some = queries[start : start + size]
            more = None if extra is None else extra[start : start + size]
            added: Sequence[Added] = [None] * len(some) if more is None else list(more)
            if len(self._rows) >= _MANY_ROWS:
                found = self._codes.candidates(some, k, count, more)
            else:
                found = self._multiplied(some, k, more)
            nearest += [self._best(*one, k) for one in zip(some, found, added, strict=True)]
        return nearest

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
        scores = self.scores(query, all_places, extra) + gain * among(all_places, places)
        return self._order(all_places, scores, len(found.rows))

    def _multiplied(
        self, queries: npt.NDArray[np.float32], k: int, extra: Added
    ) -> list[npt.NDArray[np.int64]]:
        """Rows among which the k best of each query are, by a matrix product."""
        scores = queries @ self._rows.astype(np.float32, copy=False).T
        if extra is not None:
            scores += extra.astype(np.float32)
        least = topk(scores, k)[1][:, -1] - _margin(queries)
        return [_at_least(*one) for one in zip(scores, least, strict=True)]

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


def among(values: npt.NDArray[np.int64], chosen: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
    """Which values are among some that ascend; sooner told than by np.isin where both are few."""
    if len(chosen) == 0:
        return np.zeros(len(values), np.bool_)
    nearest = np.minimum(np.searchsorted(chosen, values), len(chosen) - 1)
    found: npt.NDArray[np.bool_] = chosen[nearest] == values
    return found


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
