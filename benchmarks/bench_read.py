"""Reading features through a flow, with the softmax before it and with the content score.

The first kernel is a hop over a graph without edges, so that what is timed is the softmax and the
read alone: one graph, the shape of a question's subgraph. The baselines' softmax takes the same
logits.
"""

import numpy as np

from harness import Baseline, Case, installed
from hyperhop import flow

NODES = 1371
EPS = 1e-8


def cases(quick: bool, threads: int) -> list[Case]:
    dims = (128,) if quick else (1024, 384, 128)
    batch = 2 if quick else 16
    return [
        *(_softmax_and_read(dim, threads) for dim in dims),
        *(_plain_read(dim, threads) for dim in dims),
        *(_score_and_read(dim, batch, threads) for dim in dims[:2]),
        _entropy(batch, threads),
    ]


def _inputs(dim, nodes=NODES):
    rng = np.random.default_rng(0)
    features = rng.normal(size=(nodes, dim)).astype(np.float32)
    return rng.normal(size=nodes).astype(np.float32), features


def _softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def _context(logits, features):
    """In float64."""
    return _softmax(logits.astype(np.float64)) @ features.astype(np.float64)


def _torch(threads):
    """torch with so many threads, or None where it is missing."""
    if not installed("torch"):
        return None
    import torch

    torch.set_num_threads(threads)
    return torch


def _softmax_and_read(dim, threads):
    logits, features = _inputs(dim)
    graph = flow.FlowGraph([], [], [], NODES, 1)
    zeros, beta = np.zeros(NODES, np.float32), np.zeros(1, np.float32)

    def ours():
        return flow.hop(graph, zeros, beta, logits, 1.0, features=features, threads=threads)

    weights = _softmax(logits)
    others = [
        Baseline("numpy, softmax and read", lambda: _softmax(logits) @ features),
        Baseline("numpy, read alone", lambda: weights @ features),
    ]
    torch = _torch(threads)
    if torch:
        x, h = torch.from_numpy(logits), torch.from_numpy(features)
        others.append(Baseline("torch, softmax and read", lambda: torch.softmax(x, 0) @ h))
    else:
        others.append(Baseline("torch, softmax and read", None))

    def check():
        exact = _context(logits, features)
        for found in [ours()[1]] + [other.run() for other in others if other.run]:
            assert np.abs(np.asarray(found) - exact).max() < 1e-5

    return Case(
        "softmax and read", f"{NODES:,} x {dim}", ours, others, check, bytes=features.nbytes
    )


def _plain_read(dim, threads):
    logits, features = _inputs(dim)
    weights = _softmax(logits)

    def ours():
        return flow.read(weights, features, threads=threads)

    others = [Baseline("numpy", lambda: weights @ features)]
    torch = _torch(threads)
    if torch:
        p, h = torch.from_numpy(weights), torch.from_numpy(features)
        others.append(Baseline("torch", lambda: p @ h))

    def check():
        exact = _context(logits, features)
        for found in [ours()] + [other.run() for other in others]:
            assert np.abs(np.asarray(found) - exact).max() < 1e-5

    return Case("read", f"{NODES:,} x {dim}", ours, others, check, bytes=features.nbytes)


def _score_and_read(dim, batch, threads):
    """A batch of packed graphs: content score, softmax and read; one pass over the features."""
    nodes = batch * NODES
    _, features = _inputs(dim, nodes)
    queries = np.random.default_rng(1).normal(size=(batch, dim)).astype(np.float32)
    queries /= np.float32(dim**0.5)
    graph = flow.FlowGraph([], [], [], nodes, 1)
    segments = np.arange(batch + 1) * NODES
    zeros, beta = np.zeros(nodes, np.float32), np.zeros((batch, 1), np.float32)
    gates = np.ones(batch, np.float32)

    def ours():
        return flow.hop(
            *(graph, zeros, beta, None, gates, EPS, segments, False, features, queries),
            threads=threads,
        )

    grid = features.reshape(batch, NODES, dim)

    def numpy():
        weights = [_softmax(h @ q) for h, q in zip(grid, queries, strict=True)]
        return [w @ h for w, h in zip(weights, grid, strict=True)]

    others = [Baseline("numpy", numpy)]
    torch = _torch(threads)
    if torch:
        h, q = torch.from_numpy(grid), torch.from_numpy(queries)

        def bmm():
            weights = torch.softmax(torch.bmm(h, q[:, :, None])[:, :, 0], 1)
            return torch.bmm(weights[:, None], h)[:, 0]

        others.append(Baseline("torch.bmm", bmm))

    def check():
        exact = [_context(x @ y, x) for x, y in zip(grid, queries, strict=True)]
        for found in [ours()[1]] + [other.run() for other in others]:
            assert np.abs(np.asarray(found) - np.stack(exact)).max() < 1e-4

    return Case(
        "score, softmax and read",
        f"{batch} x {NODES:,} x {dim}",
        ours,
        others,
        check,
        bytes=features.nbytes,
    )


def _entropy(batch, threads):
    rng = np.random.default_rng(0)
    pi = rng.dirichlet(np.ones(NODES), batch).astype(np.float32)
    segments, packed = np.arange(batch + 1) * NODES, pi.reshape(-1)

    def ours():
        return flow.entropy(packed, segments, EPS, threads=threads)

    others = [Baseline("numpy", lambda: -(pi * np.log(pi + np.float32(EPS))).sum(1))]
    torch = _torch(threads)
    if torch:
        p = torch.from_numpy(pi)
        others.append(Baseline("torch", lambda: -(p * torch.log(p + EPS)).sum(1)))

    def check():
        wide = pi.astype(np.float64)
        exact = -(wide * np.log(wide + EPS)).sum(1)
        for found in [ours()] + [other.run() for other in others]:
            assert np.abs(np.asarray(found) / exact - 1).max() < 1e-5

    return Case("entropy", f"{batch} x {NODES:,}", ours, others, check, bytes=pi.nbytes)
