"""Structural flow: one step along all edges of a graph, Python call included."""

import numpy as np

from flows import Flow, make, propagate_exactly
from harness import Baseline, Case, installed
from hyperhop import flow as hh_flow


def cases(quick: bool, threads: int) -> list[Case]:
    small, large = (1_371, 4_252), (10_000, 50_000) if quick else (100_000, 1_000_000)
    metaqa = (43_000, 310_000)  # MetaQA's whole graph with inverses and STAY
    return [
        *[_one(make(*size), threads) for size in (small, metaqa, large)],
        *[_many(make(*size, lanes=16), threads) for size in (small, metaqa)],
    ]


def _bytes(flow: Flow) -> float:
    """Ends and relations of the edges, pi read and phi written."""
    return 8.0 * flow.g.num_edges + 8.0 * flow.pi.size


def _check(flow: Flow, runs):
    def check():
        exact = propagate_exactly(flow)
        for run in runs:
            if run is not None:
                assert np.allclose(np.asarray(run()), exact, rtol=1e-4, atol=1e-9)

    return check


def _one(flow: Flow, threads: int) -> Case:
    def ours():
        return hh_flow.propagate(flow.g, flow.pi, flow.beta, threads=threads)

    others = [
        Baseline("scipy CSR, data refreshed", _scipy(flow)),
        Baseline("torch index_add", _torch(flow, threads)),
        Baseline("np.add.at", _add_at(flow), strawman=True),
    ]
    check = _check(flow, [ours, *(other.run for other in others)])
    return Case("flow", flow.size, ours, others, check, 2.0 * flow.g.num_edges, _bytes(flow))


def _many(flow: Flow, threads: int) -> Case:
    """16 flows of one beta, which is all that the baseline knows; ours may each have their own."""
    beta = np.broadcast_to(flow.beta[:, 0].copy()[:, None], flow.beta.shape)

    def ours():
        return hh_flow.propagate(flow.g, flow.pi, beta, threads=threads)

    others = [
        Baseline("scipy CSR @ (V, 16), data refreshed", _scipy(flow)),
        Baseline("torch index_add of rows", _torch(flow, threads)),
    ]
    check = _check(flow, [ours, *(other.run for other in others)])
    work = 2.0 * flow.g.num_edges * flow.pi.shape[1]
    return Case("flow", f"16 flows, {flow.size}", ours, others, check, work, _bytes(flow))


def _scipy(flow: Flow):
    if not installed("scipy"):
        return None
    from scipy.sparse import csr_array

    g = flow.g
    beta = flow.beta if flow.beta.ndim == 1 else flow.beta[:, 0].copy()
    # Edges are sorted by tail; parallel edges stay apart, as in the graph.
    offsets = np.searchsorted(g.dst, np.arange(g.num_nodes + 1)).astype(np.int32)
    matrix = csr_array((beta[g.relation], g.src, offsets), shape=(g.num_nodes, g.num_nodes))
    matrix.indices, matrix.indptr = g.src.copy(), offsets

    def run():
        np.take(beta, g.relation, out=matrix.data, mode="clip")
        return matrix @ flow.pi

    return run


def _torch(flow: Flow, threads: int):
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    g = flow.g
    src, relation, dst = (torch.from_numpy(x.copy()) for x in (g.src, g.relation, g.dst))
    pi, beta = torch.from_numpy(flow.pi), torch.from_numpy(flow.beta)

    def run():
        terms = pi.index_select(0, src) * beta.index_select(0, relation)
        return torch.zeros_like(pi).index_add_(0, dst, terms)

    return run


def _add_at(flow: Flow):
    g = flow.g

    def run():
        phi = np.zeros(g.num_nodes, np.float32)
        np.add.at(phi, g.dst, flow.pi[g.src] * flow.beta[g.relation])
        return phi

    return run
