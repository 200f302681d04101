"""All candidates of one step of a beam of HyperNodes."""

from typing import Any

from hyperhop import _core
from hyperhop._arrays import restorer, threads_argument
from hyperhop.hypernode._inputs import adjacency_of, beam_offsets, hypernode_rows
from hyperhop.hypernode.index import TripleIndex


def expand(
    index: TripleIndex,
    hypernodes: Any,
    keep_parents: bool = False,
    offsets: Any = None,
    *,
    threads: int | None = None,
) -> Any:
    """Every HyperNode with one adjacent triple more (HELP algorithm 1, lines 6 to 10).

    A candidate is a set: reached from two HyperNodes it is one. A HyperNode that nothing is
    adjacent to stays as it is, so sizes may differ within a beam.

    Args:
        index: which triples are adjacent.
        hypernodes: integers (B, n), distinct triple ids in any order, padded with -1 at the end.
        keep_parents: whether every HyperNode is a candidate itself too.
        offsets: (Q + 1,) where the rows of each of Q queries start; None for one query. Queries
            share no candidates.
        threads: over queries; None for the default.

    Returns:
        int64 (C, n + 1): each row sorted by the index's order and padded with -1; rows in canonical
        order, which compares them by the ranks of their triples from the first on, a row before
        those it begins. With `offsets`: (candidates, int64 (Q + 1,) where each query's start).

    Raises:
        TypeError: for a dtype. ValueError: for a shape, ids that are no triples or come twice in a
            row, offsets that do not ascend.

    O(C log C) time for C candidates of a query; the result is the only large array.
    """
    rows = hypernode_rows(hypernodes, "expand")
    candidates, starts = _core.expand(
        adjacency_of(index, "expand"),
        rows,
        beam_offsets(offsets, len(rows), "expand"),
        bool(keep_parents),
        threads_argument(threads, "expand"),
    )
    restore = restorer(hypernodes)
    return restore(candidates) if offsets is None else (restore(candidates), restore(starts))
