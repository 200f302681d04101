"""Flows that the benchmarks of hyperhop.flow share: graphs, and what runs over them."""

from dataclasses import dataclass

import numpy as np

from hyperhop.flow import FlowGraph

RELATIONS = 600  # about as many as the subgraph of a WebQSP question has


@dataclass
class Flow:
    """A random multigraph and one flow over it, or `lanes` of them with one beta."""

    g: FlowGraph
    pi: np.ndarray
    beta: np.ndarray
    rho: np.ndarray
    gate: np.ndarray
    grad: np.ndarray

    @property
    def size(self) -> str:
        return f"{self.g.num_nodes:,} nodes / {self.g.num_edges:,} edges"


def aligned(values: np.ndarray) -> np.ndarray:
    """A copy that starts on a cache line, as what a hop returned does; for everybody."""
    memory = np.empty(values.nbytes + 64, np.uint8)
    start = -memory.ctypes.data % 64
    copy = memory[start : start + values.nbytes].view(values.dtype).reshape(values.shape)
    copy[...] = values
    return copy


def make(nodes: int, edges: int, lanes: int | None = None) -> Flow:
    rng = np.random.default_rng(0)
    src, dst = rng.integers(0, nodes, (2, edges))
    order = np.lexsort((src, dst))  # sorted by tail: the best order for everybody
    g = FlowGraph(src[order], rng.integers(0, RELATIONS, edges), dst[order], nodes, RELATIONS)
    shape = () if lanes is None else (lanes,)
    pi = rng.random((nodes, *shape), np.float32)
    beta = rng.random(RELATIONS, np.float32)
    if lanes is not None:
        beta = np.repeat(beta[:, None], lanes, axis=1)
    rho = rng.normal(size=pi.shape).astype(np.float32)
    gate = rng.random(shape, np.float32)
    return Flow(
        g,
        aligned(pi / pi.sum(axis=0, dtype=np.float32)),
        beta,
        rho,
        np.asarray(gate, np.float32),
        rng.normal(size=pi.shape).astype(np.float32),
    )


def propagate_exactly(flow: Flow) -> np.ndarray:
    """In float64, one lane after another."""
    g, pi, beta = flow.g, flow.pi.astype(np.float64), flow.beta.astype(np.float64)
    terms = pi[g.src] * beta[g.relation]
    if terms.ndim == 1:
        return np.bincount(g.dst, terms, g.num_nodes)
    lanes = [np.bincount(g.dst, one, g.num_nodes) for one in terms.T]
    return np.stack(lanes, axis=1)
