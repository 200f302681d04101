"""The relation sequences that exist from one topic, laid out for scoring."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

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
        self.lengths = np.diff(paths.offsets)
        longest = int(self.lengths.max(initial=0))
        inside = np.arange(longest) < self.lengths[:, None]
        self.symbols, positions = np.unique(paths.symbols.astype(np.int64), return_inverse=True)
        self.table: npt.NDArray[np.int64] = np.full(inside.shape, -1, np.int64)
        self.table[inside] = positions
        ranks = name_ranks(names) if ranks is None else ranks
        self._positions: dict[str, int] | None = None  # in `symbols`, by name
        self._rank_table = np.full(inside.shape, -1, np.int64)
        self._rank_table[inside] = ranks[paths.symbols]

    def __len__(self) -> int:
        return len(self.paths)

    def relations(self, index: int) -> list[str]:
        """Symbol names of one sequence."""
        return [self.names[symbol] for symbol in self.paths[index]]

    def find(self, relations: Sequence[str]) -> int | None:
        """Index of the sequence with these symbol names; None if it is no candidate. O(N)."""
        length = len(relations)
        if length > self.table.shape[1]:
            return None
        if self._positions is None:
            self._positions = {
                self.names[symbol]: position for position, symbol in enumerate(self.symbols)
            }
        positions = [self._positions.get(name, -1) for name in relations]
        if -1 in positions:
            return None
        same = (self.lengths == length) & (self.table[:, :length] == positions).all(axis=1)
        found = np.flatnonzero(same)
        return int(found[0]) if len(found) else None

    def order(self, scores: npt.ArrayLike) -> npt.NDArray[np.int64]:
        """All indices, best score first, equal scores by relation names; NaN last. O(N log N)."""
        return np.lexsort((*self._rank_table.T[::-1], -np.asarray(scores))).astype(np.int64)
