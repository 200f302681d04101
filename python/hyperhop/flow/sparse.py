"""Flow on graphs of any size: only the nodes that hold mass are kept, only their edges touched."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hyperhop import _core
from hyperhop.flow._inputs import edges_of, floats
from hyperhop.flow.graph import FlowGraph

Floats = npt.NDArray[np.floating[Any]]
Bias = npt.ArrayLike | Callable[[npt.NDArray[np.int32]], npt.ArrayLike]


class _KnowledgeGraph(Protocol):
    """What is used of a hyperhop.KnowledgeGraph."""

    _index: _core.GraphIndex

    @property
    def num_entity_ids(self) -> int: ...

    @property
    def num_relation_ids(self) -> int: ...


class FactGraph:
    """The facts of a KnowledgeGraph as the edges of a flow, without a copy of them.

    With R relation ids of the graph, relation r walks a fact forward, R + r backward (if
    `inverse`), and 2 R stays at its node (if `stay`); `num_relations` is 2 R + 1 whatever the two
    switches say. Nodes are entity ids.

    Nothing is built: the arrays may be a mapped store of any size, and every id is checked where it
    is read.
    """

    __slots__ = ("_index", "inverse", "num_nodes", "num_relations", "stay")

    def __init__(self, kg: _KnowledgeGraph, inverse: bool = True, stay: bool = True) -> None:
        self._index = kg._index
        self.inverse = bool(inverse)
        self.stay = bool(stay)
        self.num_nodes = kg.num_entity_ids
        self.num_relations = 2 * kg.num_relation_ids + 1


@dataclass(frozen=True, eq=False, slots=True)
class SparseFlow:
    """A distribution over the nodes of a graph, of which most hold nothing.

    Attributes:
        nodes: int32 (n,), ids of the active nodes, ascending, each once.
        values: float32 or float64 (n,), what each of them holds.
        num_nodes: number of nodes of the graph.
    """

    nodes: npt.NDArray[np.int32]
    values: Floats
    num_nodes: int

    @classmethod
    def start(
        cls, nodes: npt.ArrayLike, num_nodes: int, dtype: npt.DTypeLike = np.float32
    ) -> "SparseFlow":
        """All mass in equal parts at `nodes`, each counted once. ValueError for an unknown id."""
        ids = np.unique(np.asarray(nodes))
        if ids.size and not 0 <= ids[0] <= ids[-1] < num_nodes:
            raise ValueError(f"SparseFlow: nodes must be ids below {num_nodes}, got {ids}")
        values = np.full(ids.size, 1 / max(ids.size, 1), dtype)
        return cls(ids.astype(np.int32), values, num_nodes)

    @classmethod
    def from_dense(cls, pi: npt.ArrayLike) -> "SparseFlow":
        """The nodes of `pi` (V,) whose value is not 0. O(V)."""
        values = np.asarray(pi)
        nodes = np.flatnonzero(values)
        return cls(nodes.astype(np.int32), values[nodes], values.size)

    def dense(self) -> Floats:
        """The values of all nodes, (num_nodes,). O(num_nodes)."""
        values = np.zeros(self.num_nodes, self.values.dtype)
        values[self.nodes] = self.values
        return values

    def __len__(self) -> int:
        return len(self.nodes)

    def __repr__(self) -> str:
        return f"SparseFlow({len(self)} of {self.num_nodes} nodes, {self.values.dtype})"


def propagate_sparse(g: FlowGraph | FactGraph, pi: SparseFlow, beta: npt.ArrayLike) -> SparseFlow:
    """Structural flow: the sum of pi[u] * beta[r] over the edges (u, r, v) of active nodes u.

    Args:
        g: the graph.
        pi: the flow of the hop before.
        beta: (num_relations,) attention; the wider dtype of both is used.

    Returns the nodes whose sum is not 0: the bits that `propagate` gives them.

    Raises ValueError for a shape, TypeError for a dtype, and DamagedStore where a mapped graph
    holds an unknown id. O(edges of active nodes) and the sorting of what was reached; memory grows
    with what is reached, not with the graph.
    """
    name = "propagate_sparse"
    if pi.num_nodes != g.num_nodes:
        raise ValueError(f"{name}: pi must be a flow over {g.num_nodes} nodes, got {pi.num_nodes}")
    arrays = pi.nodes, pi.values, floats(beta, name, "beta")
    if isinstance(g, FactGraph):
        nodes, values = _core.propagate_facts(g._index, g.inverse, g.stay, *arrays)
    else:
        nodes, values = _core.propagate_sparse(edges_of(g, name), *arrays)
    return SparseFlow(nodes, values, g.num_nodes)


def hop_sparse(
    g: FlowGraph | FactGraph,
    pi: SparseFlow,
    beta: npt.ArrayLike,
    rho: Bias | None = None,
    gate: float = 0.0,
    eps: float = 1e-8,
) -> SparseFlow:
    """One hop of eq. 4 among the nodes that flow reaches, on a graph of any size.

    What `hop(..., reachable_only=True)` computes, within the same error bound: nodes that no flow
    reaches hold nothing. A flow that reaches no node gives one of no nodes (a dead hop).

    Args:
        g: a FlowGraph, or the FactGraph of a KnowledgeGraph.
        pi: the flow of the hop before.
        beta: (num_relations,) attention.
        rho: content score of each node, (num_nodes,), or a function that is given the int32 ids of
            the nodes reached and returns theirs; None for none.
        gate: the weight of rho.
        eps: what is added to the structural flow of the nodes reached.

    Cost as `propagate_sparse`, and O(nodes reached). Sums run in double, in order of the ids.
    """
    phi = propagate_sparse(g, pi, beta)
    if rho is None:
        return aggregate_sparse(phi, eps=eps)
    if callable(rho):
        return aggregate_sparse(phi, rho(phi.nodes), gate, eps)
    scores = floats(rho, "hop_sparse", "rho")
    if scores.shape != (phi.num_nodes,):
        raise ValueError(f"hop_sparse: rho must have shape ({phi.num_nodes},), got {scores.shape}")
    return aggregate_sparse(phi, scores[phi.nodes], gate, eps)


def aggregate_sparse(
    phi: SparseFlow, rho: npt.ArrayLike | None = None, gate: float = 0.0, eps: float = 1e-8
) -> SparseFlow:
    """The second half of `hop_sparse`: structural flow and content as a distribution (eq. 4).

    Args:
        phi: what `propagate_sparse` made, or a part of it.
        rho: content score of each of its nodes, (n,); -inf keeps a node out. None for none.
        gate, eps: as in `hop_sparse`.

    Returns the nodes whose share is not 0. ValueError for a shape. O(n), sums in double.
    """
    weights = phi.values.astype(np.float64) + eps
    if rho is not None and len(phi):
        bias = _bias(phi, rho, gate)
        with np.errstate(invalid="ignore"):  # what has no largest bias becomes NaN, or is masked
            weights *= np.exp(bias - bias.max())
        weights[bias == -np.inf] = 0
    total = weights.sum()
    values = (weights / total if total != 0 else weights).astype(phi.values.dtype)
    kept = np.flatnonzero(values)
    return SparseFlow(phi.nodes[kept], values[kept], phi.num_nodes)


def _bias(phi: SparseFlow, rho: npt.ArrayLike, gate: float) -> npt.NDArray[np.float64]:
    """gate * rho; -inf stays so, whatever the gate."""
    scores = floats(rho, "aggregate_sparse", "rho")
    if scores.shape != phi.nodes.shape:
        raise ValueError(
            f"aggregate_sparse: rho must have shape {phi.nodes.shape}, got {scores.shape}"
        )
    with np.errstate(invalid="ignore"):
        return np.where(scores == -np.inf, -np.inf, np.asarray(scores, np.float64) * gate)
