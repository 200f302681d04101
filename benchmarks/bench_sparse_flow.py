"""A flow held as its active nodes, on facts as they are stored, both directions and STAY."""

import numpy as np

from bench_graph import make_graph
from harness import Baseline, Case, installed
from hyperhop import flow


def cases(quick: bool, threads: int) -> list[Case]:
    found = []
    for edges in (100_000,) if quick else (1_000_000, 10_000_000):
        graph = make_graph(edges * 7 // 10, edges)
        found += [_case(graph, active) for active in (1, 100, 10_000)]
    return found


def _case(graph, active):
    rng = np.random.default_rng(active)
    edges = flow.FactGraph(graph.kg)
    nodes = np.sort(rng.choice(graph.entities, active, replace=False)).astype(np.int32)
    values = rng.random(active, np.float32)
    pi = flow.SparseFlow(nodes, values / values.sum(), graph.entities)
    beta = rng.random(edges.num_relations, np.float32)
    relations = graph.kg.num_relation_ids

    def ours():
        return flow.propagate_sparse(edges, pi, beta)

    def numpy_frontier(dtype=np.float32):
        """Edges of the active nodes gathered, then summed by target."""
        targets, parts = [nodes], [pi.values * beta[-1]]
        for side, shift in ((graph.out, 0), (graph.into, relations)):
            rows, owners = side.rows(nodes)
            targets.append(side.neighbours[rows])
            parts.append(pi.values[owners] * beta[side.relations[rows] + shift])
        found, places = np.unique(np.concatenate(targets), return_inverse=True)
        return found, np.bincount(places, np.concatenate(parts).astype(dtype))

    def scipy_rows():
        if not installed("scipy"):
            return None
        from scipy.sparse import csr_array

        size = (graph.entities, graph.entities)
        matrices = []
        for side, shift in ((graph.out, 0), (graph.into, relations)):
            weights = beta[side.relations + shift]
            matrices.append(csr_array((weights, side.neighbours, side.offsets), shape=size))
        whole = matrices[0] + matrices[1]
        row = csr_array((pi.values, nodes, np.array([0, active])), shape=(1, graph.entities))

        def run():  # attention refreshed for nothing, which is to its favour
            return row @ whole

        return run

    def dense():
        return flow.propagate(whole, full, beta)

    whole, full = _copy(graph, edges), pi.dense()
    baselines = [
        Baseline("numpy frontier", numpy_frontier),
        Baseline("scipy sparse row @ CSR, attention ready made, no STAY", scipy_rows()),
        Baseline("hyperhop.flow.propagate, all edges", dense),
    ]

    def check():
        found, sums = numpy_frontier(np.float64)
        sparse = ours()
        assert np.array_equal(sparse.nodes, found)
        assert np.allclose(sparse.values, sums, rtol=1e-5)
        assert np.array_equal(sparse.dense(), dense())

    reached = len(ours())
    size = f"{active:,} active of {graph.entities:,} nodes, {graph.kg.num_triples:,} facts"
    return Case("sparse hop", f"{size}, {reached:,} reached", ours, baselines, check)


def _copy(graph, edges):
    """The FlowGraph of the same edges."""
    heads, tails = graph.heads, graph.out.neighbours
    relations, own = graph.out.relations, np.arange(graph.entities)
    inverse = relations + graph.kg.num_relation_ids
    stay = np.full(own.size, edges.num_relations - 1)
    return flow.FlowGraph(
        np.concatenate([heads, tails, own]),
        np.concatenate([relations, inverse, stay]),
        np.concatenate([tails, heads, own]),
        edges.num_nodes,
        edges.num_relations,
    )
