"""The relation-schema graph: which relation can follow which, with counts (PathHD section 2.4)."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._core import GraphIndex, GraphLimits, graph_schema, schema_sequences
from hyperhop.graph.arguments import at_least, integer
from hyperhop.graph.errors import DamagedStore, SchemaTooLarge, UnknownRelation
from hyperhop.graph.names import symbol_ranks
from hyperhop.paths import Paths

SCHEMA_DTYPES = {"schema_offsets": np.int64, "schema_symbols": np.int32, "schema_counts": np.int64}

_MOST_PAIRS = 2**27  # 1.6 GB
# Bounds on one call of sequences(): as those of a graph's walks.
_LIMITS = GraphLimits(edge_visits=10**9, entries=125_000_000, simple_steps=0)


class RelationSchema:
    """Which of the 2 R symbols can follow which, and at how many entities.

    Symbol r walks relation r forward, R + r backward. The count of (a, b) is the number of entities
    at which an edge walked as a arrives and one walked as b leaves; it is positive exactly where
    some walk of the graph follows a, then b. Held by rows, in the order of the first symbol.

    A symbol is given by its id, or by its name in `kg.symbols`. Get a schema from `kg.schema`.

    Attributes:
        offsets: int64 (2 R + 1,), where the row of each first symbol starts.
        symbols: int32 (pairs,), second symbols, ascending within a row.
        counts: int64 (pairs,).
        names: names of the symbols.
    """

    def __init__(
        self,
        offsets: npt.NDArray[np.int64],
        symbols: npt.NDArray[np.int32],
        counts: npt.NDArray[np.int64],
        names: Sequence[str],
    ) -> None:
        self.offsets = offsets
        self.symbols = symbols
        self.counts = counts
        self.names = names

    def __repr__(self) -> str:
        return f"RelationSchema({self.num_symbols} symbols, {self.num_pairs} pairs)"

    @property
    def num_symbols(self) -> int:
        """Number of symbols, 2 R."""
        return len(self.offsets) - 1

    @property
    def num_pairs(self) -> int:
        """Number of pairs (first, second) with a positive count."""
        return len(self.symbols)

    def followers(self, symbol: int | str) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
        """Symbols that can follow one, ascending, and their counts: int32 and int64 (n,).

        Raises UnknownRelation for a name and IndexError for an id that is no symbol. O(n).
        """
        row = self._row(self._symbol("followers", symbol))
        symbols = np.array(self.symbols[row])
        if symbols.size and (symbols.min() < 0 or symbols.max() >= self.num_symbols):
            raise DamagedStore("the graph is damaged: schema_symbols holds an unknown symbol")
        return symbols, np.array(self.counts[row])

    def count(self, first: int | str, second: int | str) -> int:
        """Entities at which `first` arrives and `second` leaves, 0 where no walk goes on so.

        Raises as `followers`. O(log n).
        """
        return self._count(self._symbol("count", first), self._symbol("count", second))

    def domain_size(self, symbol: int | str) -> int:
        """Number of distinct entities that the symbol leaves. Raises as `followers`."""
        value = self._symbol("domain_size", symbol)
        return self._count(self._inverse(value), value)

    def range_size(self, symbol: int | str) -> int:
        """Number of distinct entities that the symbol arrives at. Raises as `followers`."""
        value = self._symbol("range_size", symbol)
        return self._count(value, self._inverse(value))

    def support(self, sequence: Iterable[int | str]) -> int:
        """Smallest count of the pairs of neighbours in a sequence, what a beam goes by.

        No walk that follows the sequence passes through more entities at its narrowest inner place.
        Of a single symbol: its domain size. 0 where the sequence is not type-consistent.

        Raises ValueError for an empty sequence, and as `followers`.
        """
        symbols = [self._symbol("support", symbol) for symbol in sequence]
        if not symbols:
            raise ValueError("support: sequence must hold at least one symbol, got none")
        if len(symbols) == 1:
            return self.domain_size(symbols[0])
        return min(self._count(first, second) for first, second in pairwise(symbols))

    def sequences(
        self,
        first: Iterable[int | str] | npt.NDArray[np.integer] | None = None,
        max_hops: int = 4,
        beam: int | None = None,
        cap: int = 100_000,
        inverse: bool = False,
    ) -> Paths:
        """All type-consistent sequences of 1 to `max_hops` symbols: each can follow the one before.

        The breadth-first search of PathHD Algorithm 1, line 3. Every sequence of `kg.sequences` is
        among them; not every one of them is walked from a given topic.

        Args:
            first: symbols that a sequence may begin with, such as `kg.leaving(topic)`; all that
                some edge is walked by, by default.
            max_hops: length of the longest sequence.
            beam: keep at each depth only that many sequences, those of the highest `support`, ties
                by symbol names. Only they are returned and extended. What a beam drops does not
                count as truncated.
            cap: length of the result. It is then the first part of the full one, so shallow depths
                are complete before deeper ones begin.
            inverse: also use symbols that walk backward; without it those in `first` are left out.

        Returns Paths of symbol ids ordered by (length, symbols). `.truncated` tells that `cap` cut
        it, or that the call looked at a billion pairs or would have held 125 million ids.

        Raises UnknownRelation or IndexError for what is no symbol, and ValueError for max_hops < 0,
        cap < 1 or beam < 1.
        """
        hops = at_least("sequences", "max_hops", max_hops, 0)
        most = at_least("sequences", "cap", cap, 1)
        width = 0 if beam is None else at_least("sequences", "beam", beam, 1)
        if first is None:
            # A symbol that walks an edge can be followed by its inverse; a retired one walks none.
            begin = np.flatnonzero(np.diff(self.offsets)).astype(np.int32)
        else:
            begin = np.array(
                sorted({self._symbol("sequences", symbol) for symbol in first}), np.int32
            )
        ranks = self._ranks if width else np.zeros(0, np.int32)
        symbols, offsets, truncated = schema_sequences(
            self.offsets,
            self.symbols,
            self.counts,
            begin,
            hops,
            most,
            width,
            inverse,
            ranks,
            _LIMITS,
        )
        return Paths(symbols, offsets, truncated)

    @cached_property
    def _ids(self) -> dict[str, int]:
        return {name: symbol for symbol, name in enumerate(self.names)}

    @cached_property
    def _ranks(self) -> npt.NDArray[np.int32]:
        return symbol_ranks(self.names)

    def _symbol(self, function: str, symbol: int | str) -> int:
        if isinstance(symbol, str):
            if symbol not in self._ids:
                import difflib  # only an error needs it

                close = difflib.get_close_matches(symbol, self.names, n=3, cutoff=0.6)
                raise UnknownRelation(symbol, tuple(close))
            return self._ids[symbol]
        value = integer(function, "a symbol", symbol)
        if not 0 <= value < self.num_symbols:
            raise IndexError(
                f"{function}: a symbol must be an id below {self.num_symbols}, got {value}"
            )
        return value

    def _inverse(self, symbol: int) -> int:
        half = self.num_symbols // 2
        return symbol + half if symbol < half else symbol - half

    def _row(self, symbol: int) -> slice:
        begin, end = (int(offset) for offset in self.offsets[symbol : symbol + 2])
        if not 0 <= begin <= end <= self.num_pairs:
            raise DamagedStore(f"the graph is damaged: schema_offsets[{symbol}] is out of range")
        return slice(begin, end)

    def _count(self, first: int, second: int) -> int:
        row = self._row(first)
        symbols = self.symbols[row]
        place = int(np.searchsorted(symbols, second))
        found = place < len(symbols) and symbols[place] == second
        return int(self.counts[row][place]) if found else 0


def schema_arrays(index: GraphIndex) -> dict[str, npt.NDArray[Any]]:
    """Compute the arrays of a graph's schema, by the names they are stored under.

    Raises SchemaTooLarge beyond 2**27 pairs, DamagedStore. One pass over the graph, and the square
    of each distinct set of symbols that leave an entity.
    """
    found = graph_schema(index, _MOST_PAIRS)
    if found is None:
        raise SchemaTooLarge(_MOST_PAIRS)
    return dict(zip(SCHEMA_DTYPES, found, strict=True))


def holds_schema(arrays: Mapping[str, npt.NDArray[Any]]) -> bool:
    """Tell whether a graph's arrays contain its schema."""
    return all(name in arrays for name in SCHEMA_DTYPES)


def schema_misfit(arrays: Mapping[str, npt.NDArray[Any]], num_symbols: int) -> str | None:
    """Name the stored array of a schema that does not fit the others; None where all do."""
    present = [name for name in SCHEMA_DTYPES if name in arrays]
    if not present:
        return None
    pairs = len(arrays.get("schema_symbols", ()))
    lengths = {"schema_offsets": num_symbols + 1, "schema_symbols": pairs, "schema_counts": pairs}
    for name, dtype in SCHEMA_DTYPES.items():
        array = arrays.get(name)
        if array is None or array.dtype != dtype or len(array) != lengths[name]:
            return name
    return None
