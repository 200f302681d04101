"""The graph that flow runs over."""

from typing import Any

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop._arrays import to_numpy

_INT32_MAX = np.iinfo(np.int32).max


class FlowGraph:
    """A directed multigraph with self loops, checked once and immutable.

    Edge e carries flow from node src[e] to node dst[e] under relation[e]. Parallel edges, also
    equal ones, each carry their own.

    Args:
        src, relation, dst: (E,) integer arrays or CPU tensors.
        num_nodes, num_relations: V and R; ids lie in 0..V-1 and 0..R-1.

    Attributes:
        src, relation, dst: int32 (E,), read-only, in the order given.
        num_nodes, num_relations, num_edges: V, R, E.

    Raises:
        TypeError: for arrays that are not of integers. ValueError: for lengths that differ, ids out
            of range, counts below 0 or beyond 2^31 - 1.

    O(E + V + R) time; 36 bytes an edge are kept, 44 where the bits of a node and of a relation do
    not fit 32: as given, in both orders that sums are taken in, by (dst, src, relation) and by
    (src, dst, relation), and in the order that kernels walk. The last is made at the first call,
    and again where `segments` differ from those of the call before.
    """

    __slots__ = ("_edges", "dst", "num_nodes", "num_relations", "relation", "src")

    src: npt.NDArray[np.int32]
    relation: npt.NDArray[np.int32]
    dst: npt.NDArray[np.int32]
    num_nodes: int
    num_relations: int

    def __init__(
        self, src: Any, relation: Any, dst: Any, num_nodes: int, num_relations: int
    ) -> None:
        self.num_nodes = _count(num_nodes, "num_nodes")
        self.num_relations = _count(num_relations, "num_relations")
        self.src = _ids(src, "src", self.num_nodes)
        self.relation = _ids(relation, "relation", self.num_relations)
        self.dst = _ids(dst, "dst", self.num_nodes)
        self._edges = _core.FlowEdges(
            self.src, self.relation, self.dst, self.num_nodes, self.num_relations
        )

    @property
    def num_edges(self) -> int:
        """E."""
        return self.src.size

    def __repr__(self) -> str:
        return (
            f"FlowGraph({self.num_nodes} nodes, {self.num_edges} edges, "
            f"{self.num_relations} relations)"
        )

    def __reduce__(self) -> tuple[type["FlowGraph"], tuple[Any, ...]]:
        return FlowGraph, (self.src, self.relation, self.dst, self.num_nodes, self.num_relations)


def _count(value: int, name: str) -> int:
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
        raise TypeError(f"FlowGraph: {name} must be an int, got {type(value).__name__}")
    if not 0 <= value <= _INT32_MAX:
        raise ValueError(f"FlowGraph: {name} must be 0 to {_INT32_MAX}, got {value}")
    return int(value)


def _ids(values: Any, name: str, bound: int) -> npt.NDArray[np.int32]:
    """A read-only int32 copy; ids that fit int32 are compared with `bound` by the constructor."""
    array = to_numpy(values, "FlowGraph", name)
    if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
        raise TypeError(
            f"FlowGraph: {name} must be a 1-D array of integers, got {array.dtype} "
            f"with shape {array.shape}"
        )
    if array.size and array.dtype.itemsize > 2 and array.dtype != np.int32:
        for worst in (array.min(), array.max()):
            if not 0 <= worst < bound:
                raise ValueError(f"FlowGraph: {name} must lie in 0..{bound - 1}, got {worst}")
    ids = np.array(array, np.int32)
    ids.flags.writeable = False
    return ids
