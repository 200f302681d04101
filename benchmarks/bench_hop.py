"""A hop, forward and backward: flow, content, softmax, gradients of pi, beta, rho and gate."""

import numpy as np

from flows import Flow, make
from harness import Baseline, Case, installed
from hyperhop import flow as hh_flow

EPS = 1e-8


def cases(quick: bool, threads: int) -> list[Case]:
    sizes = [(1_371, 4_252), (10_000, 50_000)]
    if not quick:
        sizes.append((100_000, 1_000_000))
    found = [_case(make(*size), threads) for size in sizes]
    return [*found, _case(make(*sizes[0], lanes=16), threads)]


def _case(flow: Flow, threads: int) -> Case:
    def ours():
        inputs = (flow.rho, flow.gate, EPS)
        result = hh_flow.hop(flow.g, flow.pi, flow.beta, *inputs, threads=threads)
        return result, hh_flow.hop_backward(
            flow.g, flow.pi, flow.beta, result, flow.grad, *inputs, threads=threads
        )

    others = [
        Baseline("torch pi[src], index_add, autograd", _torch(flow, threads, by_index=True)),
        Baseline("torch index_select, index_add, autograd", _torch(flow, threads, by_index=False)),
    ]

    def check():
        result, gradients = ours()
        exact = _exactly(flow)
        found = (result, gradients.pi, gradients.beta, gradients.rho, gradients.gate)
        for got, expected in zip(found, exact, strict=True):
            scale = np.abs(expected).max()
            assert np.allclose(got, expected, rtol=1e-3, atol=1e-5 * scale)
        for run in [other.run for other in others if other.run]:
            for got, expected in zip(run(), exact, strict=True):
                scale = np.abs(expected).max()
                assert np.allclose(got.detach().numpy(), expected, rtol=1e-3, atol=1e-4 * scale)

    # Edges are read three times: forward, again for the gradients, and backward.
    edges, nodes = flow.g.num_edges, flow.pi.size
    lanes = 1 if flow.pi.ndim == 1 else flow.pi.shape[1]
    title = flow.size if lanes == 1 else f"{lanes} flows, {flow.size}"
    return Case(
        "hop, forward + backward",
        title,
        ours,
        others,
        check,
        flop=8.0 * edges * lanes,
        bytes=24.0 * edges + 40.0 * nodes,
    )


def _exactly(flow: Flow) -> list[np.ndarray]:
    """By the formulas, in float64, lanes side by side."""
    g = flow.g
    pi, beta, rho, gate, grad = (
        x.astype(np.float64) for x in (flow.pi, flow.beta, flow.rho, flow.gate, flow.grad)
    )

    def add(into, index, terms):
        total = np.zeros((into, *terms.shape[1:]))
        np.add.at(total, index, terms)
        return total

    phi = add(g.num_nodes, g.dst, pi[g.src] * beta[g.relation])
    logits = np.log(phi + EPS) + gate * rho
    weights = np.exp(logits - logits.max(axis=0))
    result = weights / weights.sum(axis=0)
    x = result * (grad - (result * grad).sum(axis=0))
    d = x / (phi + EPS)
    return [
        result,
        add(g.num_nodes, g.src, beta[g.relation] * d[g.dst]),
        add(g.num_relations, g.relation, pi[g.src] * d[g.dst]),
        gate * x,
        (x * rho).sum(axis=0),
    ]


def _torch(flow: Flow, threads: int, by_index: bool):
    """pi[src] is what one writes; its gradient is far slower than that of index_select."""
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    g = flow.g
    src, relation, dst = (torch.from_numpy(x.copy()).long() for x in (g.src, g.relation, g.dst))
    grad = torch.from_numpy(flow.grad)
    leaves = [
        torch.from_numpy(np.array(x)).requires_grad_()
        for x in (flow.pi, flow.beta, flow.rho, flow.gate)
    ]

    def run():
        pi, beta, rho, gate = leaves
        if by_index:
            terms = pi[src] * beta[relation]
        else:
            terms = pi.index_select(0, src) * beta.index_select(0, relation)
        phi = torch.zeros_like(start).index_add(0, dst, terms)
        result = torch.softmax(torch.log(phi + EPS) + gate * rho, dim=0)
        return [result, *torch.autograd.grad(result, leaves, grad)]

    start = torch.from_numpy(flow.pi)
    return run
