"""Graphs with facts added or taken away: the arrays of the new graph, and what changed."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._core import GraphIndex, NameIndex, graph_merge, graph_without
from hyperhop.graph.errors import DamagedStore

Arrays = dict[str, npt.NDArray[Any]]
Views = tuple[GraphIndex, NameIndex, NameIndex]  # the graph, its entities and its relations
_Change = tuple[int, tuple[Any, ...], tuple[Any, ...], Arrays | None]


def merge(arrays: Mapping[str, npt.NDArray[Any]], views: Views, other: Views) -> tuple[Arrays, int]:
    """Arrays of a graph with the names and facts of `other`, and how many facts were new."""
    changes = graph_merge(*views, *other)
    return _apply(arrays, changes), changes[0]


def without(
    arrays: Mapping[str, npt.NDArray[Any]],
    views: Views,
    facts: npt.NDArray[np.int64],
    missing_ok: bool,
) -> tuple[Arrays, int]:
    """Arrays of a graph without facts (rows of ids), and the first row that is none, or -1."""
    heads, relations, tails = (np.ascontiguousarray(column) for column in facts.T)
    missing, changes = graph_without(*views, heads, relations, tails, missing_ok)
    return _apply(arrays, changes), missing


def _apply(arrays: Mapping[str, npt.NDArray[Any]], changes: _Change) -> Arrays:
    """What did not change is shared with the old graph."""
    _, entities, relations, orders = changes
    changed = {**arrays, **(orders or {})}
    for kind, (names, offsets, order) in (("entity", entities), ("relation", relations)):
        blob, blob_offsets = f"{kind}_names", f"{kind}_name_offsets"
        if len(names):
            old = arrays[blob]
            if arrays[blob_offsets][-1] != len(old):
                raise DamagedStore(f"the graph is damaged: {blob_offsets} does not fit {blob}")
            changed[blob] = np.concatenate((old, names))
            changed[blob_offsets] = np.concatenate((arrays[blob_offsets], offsets[1:] + len(old)))
        if order is not None:
            changed[f"{kind}_order"] = order
    return changed
