"""The relation sequences that exist from one topic, laid out for scoring."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import numpy.typing as npt

from hyperhop._core import best_paths
from hyperhop.paths import Paths


def name_ranks(names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Position of each name among the sorted names: ties are broken by names, not by ids."""
    ranks = np.empty(len(names), np.int64)
    ranks[sorted(range(len(names)), key=names.__getitem__)] = np.arange(len(names))
    return ranks


class Candidates:
    """N distinct sequences of symbols.

    Attributes:
        paths: the sequences.
        names: all symbol names of the graph, by id.
        symbols: int64 (U,), the distinct symbol ids that occur, ascending.
        table: int64 (N, longest), positions in `symbols`, -1 beyond a sequence's end.
        lengths: int64 (N,).
    """

    def __init__(
        self, paths: Paths, names: Sequence[str], ranks: npt.NDArray[np.int64] | None = None
    ) -> None:
        self.paths, self.names = paths, names
        self._ranks = name_ranks(names) if ranks is None else ranks

    @cached_property
    def lengths(self) -> npt.NDArray[np.int64]:
        """Symbols of each sequence."""
        return self.paths.lengths

    @cached_property
    def _inside(self) -> npt.NDArray[np.bool_]:
        return np.arange(int(self.lengths.max(initial=0))) < self.lengths[:, None]

    @cached_property
    def _occurs(self) -> npt.NDArray[np.bool_]:
        occurs = np.zeros(len(self.names), bool)  # instead of sorting the symbols
        occurs[self.paths.symbols] = True
        return occurs

    @cached_property
    def symbols(self) -> npt.NDArray[np.int64]:
        """The distinct symbol ids."""
        return np.flatnonzero(self._occurs)

    @cached_property
    def table(self) -> npt.NDArray[np.int64]:
        """Positions in `symbols`."""
        table = np.full(self._inside.shape, -1, np.int64)
        table[self._inside] = (np.cumsum(self._occurs) - 1)[self.paths.symbols]
        return table

    def __len__(self) -> int:
        return len(self.paths)

    def relations(self, index: int) -> list[str]:
        """Symbol names of one sequence."""
        return [self.names[symbol] for symbol in self.paths[index].tolist()]

    @cached_property
    def _indexes(self) -> dict[tuple[str, ...], int]:
        names = [self.names[symbol] for symbol in self.paths.symbols.tolist()]
        bounds = self.paths.offsets.tolist()
        return {tuple(names[bounds[i] : bounds[i + 1]]): i for i in range(len(self))}

    def find(self, relations: Sequence[str]) -> int | None:
        """Index of the sequence with these symbol names; None if it is no candidate.

        O(1), after a first call in O(symbols).
        """
        return self._indexes.get(tuple(relations))

    def order(self, scores: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """All indices, best score first, equal scores by relation names; NaN last. O(N log N)."""
        return self.best(scores, len(self))

    def best(self, scores: npt.ArrayLike, count: int) -> npt.NDArray[np.int64]:
        """The first `count` indices of `order`. O(N log count)."""
        values = np.ascontiguousarray(scores, np.float64)
        return best_paths(values, self.paths.symbols, self.paths.offsets, self._ranks, count)
