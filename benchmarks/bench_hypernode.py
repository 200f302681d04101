"""One step of a beam of HyperNodes: expansion, dedupe, composition score and top-k."""

import ctypes
import gc

import numpy as np

import hypernode_numpy as theirs
import scale
from harness import Baseline, Case
from hyperhop.hypernode import TripleIndex, beam_step, expand

K = 100


def cases(quick: bool, threads: int) -> list[Case]:
    triples, dim = (5_000, 64) if quick else (107_448, 1024)
    graph = _Graph(triples, dim)
    return [
        graph.expansion(threads),
        graph.step(np.float32, threads),
        graph.step(np.float16, threads),
        _hub(2_000 if quick else 200_000, 64 if quick else 384, threads),
    ]


class _Graph:
    """Triples among entities of power-law degrees with random unit embeddings, and a beam of K
    HyperNodes of two triples each."""

    def __init__(self, triples, dim):
        rng = np.random.default_rng(0)
        entities = triples * 5 // 6
        weights = (np.arange(entities) + 10.0) ** -0.92
        ends = rng.choice(entities, (2, triples), p=weights / weights.sum())
        self.index = TripleIndex(*ends, entities)
        self.embeddings = _unit_rows(rng, triples, dim)
        self.query = _unit_rows(rng, 1, dim)[0]
        self.sets, self.arrays = theirs.Sets(*ends), theirs.Arrays(*ends)
        pairs = expand(self.index, rng.permutation(triples)[:K, None])
        self.beam = pairs[rng.permutation(len(pairs))[:K]]
        self.parts = self.arrays.parts(self.beam)
        self.count = len(self.parts[0])

    def expansion(self, threads):
        def ours():
            return expand(self.index, self.beam, threads=threads)

        def check():
            assert np.array_equal(ours(), self.parts[0])
            assert set(map(tuple, ours().tolist())) == self.sets.expand(self.beam).keys()

        others = [
            Baseline("Python sets", lambda: self.sets.expand(self.beam)),
            Baseline("numpy, packed keys", lambda: self.arrays.parts(self.beam)),
        ]
        size = f"{self.count:,} candidates of {K} HyperNodes of 2 triples"
        written = self.count * 3 * 8
        return Case("expand HyperNodes", size, ours, others, check, bytes=written)

    def step(self, dtype, threads):
        stored = self.embeddings.astype(dtype)
        rows = stored.astype(np.float32)  # theirs would be slower on float16
        dim = rows.shape[1]

        def ours():
            return beam_step(self.index, self.beam, stored, self.query, K, threads=threads)

        def gram(expander):
            parts = expander.parts(self.beam)
            return theirs.best(parts, theirs.gram_scores(parts, self.beam, rows, self.query), K)

        def mean():
            parts = self.sets.parts(self.beam)
            return theirs.best(parts, theirs.mean_scores(parts, self.beam, rows, self.query), K)

        others = [
            Baseline("Python sets, numpy Gram matrix", lambda: gram(self.sets)),
            Baseline("numpy, packed keys, Gram matrix", lambda: gram(self.arrays)),
            Baseline("Python sets, mean embeddings", mean, strawman=True),
        ]

        def check():
            exact = theirs.mean_scores(
                self.parts, self.beam, rows.astype(np.float64), self.query.astype(np.float64)
            )
            scores = {tuple(row): s for row, s in zip(self.parts[0].tolist(), exact, strict=True)}
            best = np.sort(exact)[::-1][:K]
            for run in [ours] + [other.run for other in others]:
                chosen, cosines = run()
                assert np.abs(cosines - best).max() < 1e-5
                own = [scores[tuple(sorted(row))] for row in chosen.tolist()]
                assert np.abs(cosines - own).max() < 1e-5
                assert len({frozenset(row) for row in chosen.tolist()}) == K

        _, parents, triples = self.parts
        distinct = len(np.unique(triples))
        members = np.repeat(triples, 2) * len(rows) + self.beam[parents].ravel()
        dots = len(np.unique(members)) + 2 * distinct
        return Case(
            "HyperNode step",
            f"{self.count:,} candidates, {distinct:,} triples, d {dim}, k {K}, {dtype.__name__}",
            ours,
            others,
            check,
            flop=2.0 * dim * dots,
            bytes=float(distinct * dim * stored.itemsize),
        )


def _unit_rows(rng, count, dim):
    rows = rng.normal(size=(count, dim)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def _hub(triples, dim, threads) -> Case:
    """All triples meet in one entity: a beam of them has nearly all pairs of the beam's triples and
    others as candidates."""
    rng = np.random.default_rng(0)
    index = TripleIndex(np.zeros(triples, np.int64), np.arange(1, triples + 1), triples + 1)
    embeddings, query = _unit_rows(rng, triples, dim), _unit_rows(rng, 1, dim)[0]
    beam = rng.permutation(triples)[:K, None]

    def ours():
        return beam_step(index, beam, embeddings, query, K, threads=threads)

    def blocks():
        """The Gram matrix in blocks of the hub's triples; pairs of two beam triples come twice."""
        rows = embeddings[beam[:, 0]]
        own = rows @ query
        best_scores, best_pairs = np.empty(0, np.float32), np.empty((0, 2), np.int64)
        for start in range(0, triples, 4096):
            block = embeddings[start : start + 4096]
            squares = 2 + 2 * (block @ rows.T)
            scores = ((block @ query)[:, None] + own) / np.sqrt(squares)
            found = np.argpartition(scores.ravel(), scores.size - 2 * K)[-2 * K :]
            pairs = np.stack([start + found // K, beam[found % K, 0]], axis=1)
            best_scores = np.concatenate([best_scores, scores.ravel()[found]])
            best_pairs = np.concatenate([best_pairs, np.sort(pairs, axis=1)])
            keep = best_pairs[:, 0] != best_pairs[:, 1]
            best_scores, best_pairs = best_scores[keep], best_pairs[keep]
            order = np.argsort(-best_scores, kind="stable")[: 3 * K]
            best_scores, best_pairs = best_scores[order], best_pairs[order]
        first = np.sort(np.unique(best_pairs, axis=0, return_index=True)[1])[:K]
        return best_pairs[first], best_scores[first]

    def check():
        chosen, cosines = ours()
        sums = embeddings.astype(np.float64)[chosen].sum(axis=1)
        exact = sums @ query / (np.linalg.norm(sums, axis=1) * np.linalg.norm(query))
        assert np.abs(cosines - exact).max() < 1e-5
        assert np.abs(cosines - blocks()[1]).max() < 1e-5

    return Case(
        "HyperNode step at a hub",
        f"{triples:,} triples at one entity, {K} HyperNodes, d {dim}, k {K}",
        ours,
        [Baseline("numpy Gram matrix in blocks", blocks)],
        check,
        flop=2.0 * dim * triples * (K + 2),
        bytes=float(embeddings.nbytes),
        report=lambda: f"peak memory beyond the inputs {extra_megabytes(ours):.1f} MB",
    )


def extra_megabytes(run) -> float:
    """How much more memory the process holds at most while `run` works."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # memory that was used before counts again
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
        file.write("5")  # the peak starts again from here
    before = scale.peak_gb()
    run()
    return (scale.peak_gb() - before) * 1e3
