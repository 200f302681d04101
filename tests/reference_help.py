"""HELP in plain Python and float64: sets of triples, one candidate after another."""

import zlib

import numpy as np


class WordVectors:
    """An encoder whose vectors are drawn by text: alike texts are not near each other."""

    def __init__(self, dim=16, special=None):
        self.dim, self.name = dim, f"drawn:{dim}"
        self.special = special or {}
        self.texts = []

    def encode(self, texts):
        self.texts += texts
        rows = np.empty((len(texts), self.dim), np.float32)
        for place, text in enumerate(texts):
            draws = np.random.default_rng(zlib.crc32(text.encode()))
            row = draws.standard_normal(self.dim) + self.special.get(text, 0.0)
            rows[place] = row / (np.linalg.norm(row) or 1.0)
        return rows


def text_of(triples):
    """S(H)."""
    return ". ".join(" ".join(triple) for triple in sorted(triples))


def composed(hypernode, vector):
    """The normalised sum of the triples' vectors, in order."""
    total = sum((vector(text_of([triple])) for triple in sorted(hypernode)), start=0.0)
    norm = np.sqrt((total**2).sum())
    return total / norm if norm else total


def encoded(hypernode, vector):
    return vector(text_of(hypernode))


def by_distance(hypernodes, measure, vector, query):
    """Nearest first, then by text."""
    scored = [(min(float(measure(h, vector) @ query), 1.0), h) for h in hypernodes]
    return [h for _, h in sorted(scored, key=lambda one: (-one[0], sorted(one[1])))]


def algorithm_1(triples, query, vector, *, measure, levels, n, k, keep_parents=False,
                shortlist=None, linked=()):  # fmt: skip
    """The last beam as frozensets of triples, nearest first."""
    pairs = {frozenset(pair) for pair in linked}

    def joined(one, other):
        return any(
            a == b or frozenset((a, b)) in pairs
            for a in (one[0], one[2])
            for b in (other[0], other[2])
        )

    beam = by_distance([frozenset([t]) for t in set(triples)], composed, vector, query)[:n]
    for _ in range(1, levels):
        candidates = set()
        for hypernode in beam:
            grown = {
                hypernode | {triple}
                for triple in triples
                if triple not in hypernode and any(joined(triple, one) for one in hypernode)
            }
            candidates |= grown or {hypernode}
            if keep_parents:
                candidates.add(hypernode)
        if shortlist is not None:
            candidates = by_distance(candidates, composed, vector, query)[: max(k, shortlist)]
        beam = by_distance(candidates, measure, vector, query)[:k]
    return beam


def passage_scores(beam, stated, query, measure, vector, weight=lambda n: 1 / n):
    """Eq. 4; `stated` are the triples of each passage."""
    scores = {}
    for hypernode in beam:
        near = np.exp(-np.sqrt(((measure(hypernode, vector) - query) ** 2).sum()))
        for triple in hypernode:
            for passage, triples in stated.items():
                if triple in triples:
                    scores[passage] = scores.get(passage, 0.0) + near * weight(len(set(triples)))
    return scores
