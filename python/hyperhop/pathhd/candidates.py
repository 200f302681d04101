"""The relation sequences that exist from one topic, laid out for scoring."""

from collections.abc import Sequence
from functools import cached_property

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
        self.lengths = paths.lengths
        longest = int(self.lengths.max(initial=0))
        inside = np.arange(longest) < self.lengths[:, None]
        occurs = np.zeros(len(names), bool)  # instead of sorting the symbols
        occurs[paths.symbols] = True
        self.symbols: npt.NDArray[np.int64] = np.flatnonzero(occurs)
        self.table: npt.NDArray[np.int64] = np.full(inside.shape, -1, np.int64)
        self.table[inside] = (np.cumsum(occurs) - 1)[paths.symbols]
        ranks = name_ranks(names) if ranks is None else ranks
        by_rank = np.where(inside, ranks[self.symbols][self.table], -1)
        self._by_name = np.lexsort(by_rank.T[::-1]) if longest else np.arange(len(paths))

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
        by_name = self._by_name
        return by_name[np.argsort(-np.asarray(scores)[by_name], kind="stable")]
