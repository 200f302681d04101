"""A graph's facts in order, as ids or as names, a part at a time."""

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop._core import GraphIndex, gather_names, join_lines, list_names
from hyperhop.graph.errors import DamagedStore

Ids = npt.NDArray[np.int32]
Text = tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]  # UTF-8 and offsets

_CHUNK_TRIPLES = 1 << 16
_NO_ID = 2**31 - 1  # one more than the largest id


class Facts:
    """The facts of the arrays of a graph, which may be a store that nobody verified.

    Every id is compared with its bound before it is used; DamagedStore is raised otherwise.
    """

    def __init__(self, arrays: Mapping[str, npt.NDArray[Any]]) -> None:
        self._arrays = arrays
        self.num_triples = len(arrays["out_tails"])
        self.num_entities = len(arrays["entity_name_offsets"]) - 1  # ids, retired ones included
        self.num_relations = len(arrays["relation_name_offsets"]) - 1
        self._entity_text: Text = (arrays["entity_names"], arrays["entity_name_offsets"])
        self._relation_text: Text = (arrays["relation_names"], arrays["relation_name_offsets"])

    def parts(self, size: int = _CHUNK_TRIPLES) -> Iterator[tuple[Ids, Ids, Ids]]:
        """Heads, relations and tails of all facts, ordered by them, `size` facts at a time."""
        for begin in range(0, self.num_triples, size):
            yield self.ids(begin, min(begin + size, self.num_triples))

    def ids(self, begin: int, end: int) -> tuple[Ids, Ids, Ids]:
        """Heads, relations and tails of the facts `begin` to `end`."""
        edges = np.arange(begin, end)
        heads = np.searchsorted(self._arrays["out_offsets"], edges, side="right") - 1
        relations: Ids = np.asarray(self._arrays["out_relations"][begin:end])
        tails: Ids = np.asarray(self._arrays["out_tails"][begin:end])
        _check(heads, self.num_entities)
        _check(relations, self.num_relations)
        _check(tails, self.num_entities)
        return heads.astype(np.int32), relations, tails

    def entities(self, ids: Ids) -> list[str]:
        """Names of entities."""
        return list_names(*self._entity_text, ids)

    def relations(self, ids: Ids) -> list[str]:
        """Names of relations."""
        return list_names(*self._relation_text, ids)

    def all_entities(self) -> list[str]:
        """Names of all entities, by id."""
        return self.entities(np.arange(self.num_entities, dtype=np.int32))

    def all_relations(self) -> list[str]:
        """Names of all relations, by id."""
        return self.relations(np.arange(self.num_relations, dtype=np.int32))

    def names(self, part: tuple[Ids, Ids, Ids]) -> Iterator[tuple[str, str, str]]:
        """A part of the facts as names."""
        heads, relations, tails = part
        return zip(
            self.entities(heads), self.relations(relations), self.entities(tails), strict=True
        )

    def text(self, part: tuple[Ids, Ids, Ids]) -> tuple[Text, Text, Text]:
        """A part of the facts as three columns of UTF-8 with offsets."""
        heads, relations, tails = part
        return (
            gather_names(*self._entity_text, heads),
            gather_names(*self._relation_text, relations),
            gather_names(*self._entity_text, tails),
        )

    def lines(self, part: tuple[Ids, Ids, Ids]) -> bytes:
        """A part of the facts as tab-separated lines, whatever the names hold."""
        return join_lines(*self._entity_text, *self._relation_text, *part)


def find_triples(
    index: GraphIndex, heads: npt.ArrayLike, relations: npt.ArrayLike, tails: npt.ArrayLike
) -> npt.NDArray[np.bool_]:
    """See `KnowledgeGraph.has_triples`."""
    given = {"heads": heads, "relations": relations, "tails": tails}
    arrays = []
    for name, values in given.items():
        array = np.asarray(values)
        if array.dtype.kind not in "iu" and array.size:
            raise TypeError(f"has_triples: {name} must be integers, got {array.dtype}")
        arrays.append(np.clip(array, -1, _NO_ID).astype(np.int32))
    head, relation, tail = np.broadcast_arrays(*arrays)
    columns = (np.ascontiguousarray(part).reshape(-1) for part in (head, relation, tail))
    return index.has_triples(*columns).reshape(head.shape)


def _check(ids: npt.NDArray[Any], bound: int) -> None:
    if ids.size and not (ids.min() >= 0 and ids.max() < bound):
        raise DamagedStore("the graph is damaged: a triple holds an unknown id")
