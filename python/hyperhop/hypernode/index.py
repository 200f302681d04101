"""Which triples are adjacent."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import to_numpy

_INT32_MAX = np.iinfo(np.int32).max


class TripleIndex:
    """The triples of a corpus by the entities they touch, checked once and immutable.

    Two triples are adjacent if they share a head or a tail entity, in either direction, or if an
    entity of one is linked to an entity of the other. Triples with the same entities are different
    triples; self loops are legal.

    Args:
        head, tail: (T,) integer arrays of entity ids.
        num_entities: E; ids lie in 0..E-1.
        order: (T,) a permutation of 0..T-1: the rank of each triple, for example by its text. It
            decides the order of sums and ties, so that equal corpora answer alike whatever the ids.
            None: the id.
        links: (L, 2) pairs of entities that count as one where adjacency is asked, as near-equal
            names may. Symmetric, but not transitive: a link leads to the triples of the other
            entity, not on to what that one is linked to.

    Attributes:
        head, tail: int64 (T,), read-only, in the order given.
        num_entities, num_triples: E and T.

    Raises:
        TypeError: for arrays that are not of integers. ValueError: for lengths that differ, ids out
            of range, an order that is no permutation, counts below 0 or beyond 2^31 - 1.

    O(T + E + L log L) time; 32 bytes a triple are kept beside head and tail.
    """

    __slots__ = ("_adjacency", "_links", "_order", "head", "num_entities", "tail")

    head: npt.NDArray[np.int64]
    tail: npt.NDArray[np.int64]
    num_entities: int

    def __init__(
        self, head: Any, tail: Any, num_entities: int, order: Any = None, links: Any = None
    ) -> None:
        if isinstance(num_entities, bool) or not isinstance(num_entities, (int, np.integer)):
            raise TypeError(
                f"TripleIndex: num_entities must be an int, got {type(num_entities).__name__}"
            )
        if not 0 <= num_entities <= _INT32_MAX:
            raise ValueError(
                f"TripleIndex: num_entities must be 0 to {_INT32_MAX}, got {num_entities}"
            )
        self.num_entities = int(num_entities)
        self.head, self.tail = _ids(head, "head"), _ids(tail, "tail")
        if self.head.ndim != 1 or self.head.shape != self.tail.shape:
            raise ValueError(
                "TripleIndex: head and tail must be 1-D and of one length, "
                f"got shapes {self.head.shape} and {self.tail.shape}"
            )
        if self.head.size > _INT32_MAX:
            raise ValueError(
                f"TripleIndex: there may be {_INT32_MAX} triples, got {self.head.size}"
            )
        self._order = None if order is None else _ids(order, "order")
        if self._order is not None and self._order.shape != self.head.shape:
            raise ValueError(
                f"TripleIndex: order must have shape {self.head.shape}, got {self._order.shape}"
            )
        self._links = _ids(np.empty((0, 2), np.int64) if links is None else links, "links")
        if self._links.size == 0:
            self._links = self._links.reshape(0, 2)
        if self._links.ndim != 2 or self._links.shape[1] != 2:
            raise ValueError(f"TripleIndex: links must have shape (L, 2), got {self._links.shape}")
        self._adjacency = _core.TripleAdjacency(
            self.head, self.tail, self.num_entities, self._order, self._links
        )

    @property
    def num_triples(self) -> int:
        """T."""
        return self.head.size

    def __repr__(self) -> str:
        return f"TripleIndex({self.num_triples} triples, {self.num_entities} entities)"

    def __reduce__(self) -> tuple[type["TripleIndex"], tuple[Any, ...]]:
        return TripleIndex, (self.head, self.tail, self.num_entities, self._order, self._links)


def _ids(values: Any, name: str) -> npt.NDArray[np.int64]:
    """A read-only contiguous int64 copy."""
    array = to_numpy(values, "TripleIndex", name)
    if array.size and array.dtype.kind not in "iu":
        raise TypeError(f"TripleIndex: {name} must be an array of integers, got {array.dtype}")
    ids = np.array(array, np.int64, order="C")
    ids.flags.writeable = False
    return ids
