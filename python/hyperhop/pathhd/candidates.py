"""The relation sequences that exist from one topic, laid out for scoring."""

from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop.paths import Paths

_KEPT = 4_000_000  # symbols of sequences whose tables are kept: a tenth of a gigabyte


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
        self.symbols, positions = np.unique(paths.symbols.astype(np.int64), return_inverse=True)
        self.table: npt.NDArray[np.int64] = np.full(inside.shape, -1, np.int64)
        self.table[inside] = positions
        ranks = name_ranks(names) if ranks is None else ranks
        rank_table = np.full(inside.shape, -1, np.int64)
        rank_table[inside] = ranks[paths.symbols]
        self._by_name = np.lexsort(rank_table.T[::-1]) if longest else np.arange(len(paths))

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


class CandidateCache:
    """Candidates of one graph, made once for each list of sequences; safe between threads.

    Topics of one kind have the same sequences: the 40,000 entities of MetaQA share a few hundred
    lists. What was used longest ago goes first where the lists get too many.
    """

    def __init__(self, names: Sequence[str], ranks: npt.NDArray[np.int64]) -> None:
        self._names, self._ranks = names, ranks
        self._kept: OrderedDict[tuple[bytes, bytes, bool], Candidates] = OrderedDict()
        self._symbols = 0
        self._lock = Lock()

    def __reduce__(self) -> tuple[Any, ...]:
        return CandidateCache, (self._names, self._ranks)

    def of(self, paths: Paths) -> Candidates:
        """The candidates that these sequences are. O(symbols)."""
        key = (paths.symbols.tobytes(), paths.offsets.tobytes(), paths.truncated)
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
                return found
        # without the hubs that a topic met
        shared = Paths(paths.symbols, paths.offsets, paths.truncated)
        made = Candidates(shared, self._names, self._ranks)
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._symbols += len(paths.symbols)
            while self._symbols > _KEPT:
                _, old = self._kept.popitem(last=False)
                self._symbols -= len(old.paths.symbols)
            return self._kept.get(key, made)
