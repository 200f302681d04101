"""Graphs with facts added or taken away: the arrays of the new graph, and what changed."""

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._core import GraphIndex, NameIndex, graph_merge, graph_without
from hyperhop.graph.errors import DamagedStore, UnknownTriple
from hyperhop.graph.names import id_or_none
from hyperhop.graph.schema import SCHEMA_DTYPES

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
    triples: Iterable[Iterable[int | str]],
    missing_ok: bool,
) -> Arrays:
    """Arrays of a graph without facts given by names or ids. Raises UnknownTriple, TypeError."""
    _, entities, relations = views
    facts = [_triple(item, number) for number, item in enumerate(triples, 1)]
    ids = np.full((3, len(facts)), -1, np.int64)
    for number, fact in enumerate(facts):
        for place, value in enumerate(fact):
            found = id_or_none("without", value, relations if place == 1 else entities)
            ids[place, number] = -1 if found is None else found
    missing, changes = graph_without(*views, ids[0], ids[1], ids[2], missing_ok)
    if missing >= 0:
        raise UnknownTriple(facts[missing])
    return _apply(arrays, changes)


def _triple(item: Any, number: int) -> tuple[Any, ...]:
    fields = () if isinstance(item, str | bytes) or not isinstance(item, Iterable) else tuple(item)
    if len(fields) != 3:
        raise TypeError(f"without: item {number} must be three names or ids, got {item!r}")
    return fields


def _apply(arrays: Mapping[str, npt.NDArray[Any]], changes: _Change) -> Arrays:
    """What did not change is shared with the old graph; its schema is another's."""
    _, entities, relations, orders = changes
    kept = {name: array for name, array in arrays.items() if name not in SCHEMA_DTYPES}
    changed = {**kept, **(orders or {})}
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
