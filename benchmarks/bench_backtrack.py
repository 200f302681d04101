"""Greedy backtracking: 16 questions, 10 answers each, 4 hops, on packed subgraphs of real size."""

from dataclasses import dataclass

import numpy as np

from harness import Baseline, Case
from hyperhop import flow

QUESTIONS, ANSWERS, HOPS = 16, 10, 4
NODES, EDGES, RELATIONS = 1371, 4252, 40


@dataclass
class Batch:
    """Packed graphs, what flowed through them, their answers, and their in-edges by target."""

    graph: flow.FlowGraph
    segments: np.ndarray
    flows: list[np.ndarray]
    betas: list[np.ndarray]
    targets: np.ndarray

    def __post_init__(self):
        order = np.lexsort((self.graph.relation, self.graph.src, self.graph.dst))
        self.sources, self.relations = self.graph.src[order], self.graph.relation[order]
        self.offsets = np.searchsorted(self.graph.dst[order], np.arange(self.graph.num_nodes + 1))


def cases(quick: bool, threads: int) -> list[Case]:
    batch = make_batch(np.random.default_rng(0))
    return [_case(batch, score, threads) for score in ("pi*beta", "pi")]


def make_batch(rng):
    popularity = np.cumsum(np.arange(1, NODES + 1) ** -0.6)

    def drawn():
        ranks = np.searchsorted(popularity, rng.random(EDGES) * popularity[-1])
        return rng.permutation(NODES)[ranks]

    src, dst = (
        np.concatenate([drawn() + question * NODES for question in range(QUESTIONS)])
        for _ in range(2)
    )
    relation = rng.integers(0, RELATIONS, src.size)
    graph = flow.FlowGraph(src, relation, dst, QUESTIONS * NODES, RELATIONS)
    segments = np.arange(QUESTIONS + 1) * NODES
    flows, betas = [np.zeros(graph.num_nodes, np.float32)], []
    for question in range(QUESTIONS):  # from the node of the most edges out
        heads = src[question * EDGES : (question + 1) * EDGES]
        flows[0][np.bincount(heads).argmax()] = 1
    for _ in range(HOPS):
        betas.append(rng.random((QUESTIONS, RELATIONS), np.float32))
        rho = rng.normal(size=graph.num_nodes).astype(np.float32)
        flows.append(
            flow.hop(graph, flows[-1], betas[-1], rho, 0.5, segments=segments, reachable_only=True)
        )
    best = np.argsort(-flows[-1].reshape(QUESTIONS, NODES), axis=1, kind="stable")[:, :ANSWERS]
    targets = best + segments[:-1, None]
    assert (flows[-1][targets] > 0).all()
    return Batch(graph, segments, flows, betas, targets)


def by_step(batch, with_beta, dtype=np.float32):
    """One target after another; NumPy reads the in-edges of a node at once."""
    entities = np.empty((batch.targets.size, HOPS + 1), np.int64)
    relations = np.empty((batch.targets.size, HOPS), np.int64)
    for row, target in enumerate(batch.targets.reshape(-1)):
        entities[row, HOPS] = target
        for hop in range(HOPS, 0, -1):
            edges = slice(batch.offsets[target], batch.offsets[target + 1])
            sources, names = batch.sources[edges], batch.relations[edges]
            beta = batch.betas[hop - 1][row // ANSWERS][names].astype(dtype)
            weights = batch.flows[hop - 1][sources].astype(dtype)
            if with_beta:
                weights = weights * beta
            # Of parallel edges, which "pi" weighs alike, the one of the largest attention.
            ties = np.flatnonzero(weights == weights.max())
            ties = ties[sources[ties] == sources[ties[0]]]
            best = ties[beta[ties].argmax()]
            target = sources[best]
            entities[row, hop - 1], relations[row, hop - 1] = target, names[best]
    return entities, relations


def all_at_once(batch, with_beta):
    """All targets hop by hop; NumPy reads the in-edges of all nodes at once."""
    nodes = batch.targets.reshape(-1)
    questions = np.arange(nodes.size) // ANSWERS
    entities, relations = [nodes], []
    for hop in range(HOPS, 0, -1):
        starts, sizes = batch.offsets[nodes], batch.offsets[nodes + 1] - batch.offsets[nodes]
        firsts = np.cumsum(sizes) - sizes
        edges = np.arange(sizes.sum()) + np.repeat(starts - firsts, sizes)
        sources, names = batch.sources[edges], batch.relations[edges]
        beta = batch.betas[hop - 1][np.repeat(questions, sizes), names]
        weights = batch.flows[hop - 1][sources]
        if with_beta:
            weights = weights * beta
        best = _first_largest(weights, firsts, sizes)
        if not with_beta:
            parallel = sources == np.repeat(sources[best], sizes)
            best = _first_largest(np.where(parallel, beta, -1), firsts, sizes)
        nodes = sources[best]
        entities.append(nodes)
        relations.append(names[best])
    return np.stack(entities[::-1], 1), np.stack(relations[::-1], 1)


def _first_largest(values, firsts, sizes):
    """Where the largest value of each group stands, the first of equals."""
    largest = np.repeat(np.maximum.reduceat(values, firsts), sizes)
    places = np.flatnonzero(values == largest)
    return places[np.searchsorted(places, firsts)]


def _case(batch, score, threads):
    with_beta = score == "pi*beta"

    def ours():
        return flow.backtrack(
            batch.graph,
            batch.flows,
            batch.betas,
            batch.targets,
            score=score,
            segments=batch.segments,
            threads=threads,
        )

    baselines = [
        Baseline("numpy, a hop of all targets at once", lambda: all_at_once(batch, with_beta)),
        Baseline("numpy, a step at a time", lambda: by_step(batch, with_beta)),
    ]

    def check():
        entities, relations = by_step(batch, with_beta, np.float64)
        traced = ours()
        found = [(traced.entities, traced.sequences.symbols.reshape(-1, HOPS))]
        for pair in found + [baseline.run() for baseline in baselines]:
            assert np.array_equal(pair[0], entities)
            assert np.array_equal(pair[1], relations)

    size = f"{QUESTIONS} questions x {ANSWERS} answers x {HOPS} hops, {score}"
    return Case("backtrack", size, ours, baselines, check)
