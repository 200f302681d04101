"""Whole PathHD retrieval, question text to evidence, on MetaQA or on a graph of its shape.

MetaQA is read where HYPERHOP_DATA names a folder that holds it. What is compared is the same
algorithm in NumPy and scipy; both get the same plans, so that the planner, which is Python in
either, is left out of that ratio. Beside it stands what a user waits for, planner and all.
"""

import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from harness import Baseline, Case, installed
from hyperhop import KnowledgeGraph
from hyperhop.evaluate import benchmarks
from hyperhop.pathhd import PathHD
from hyperhop.pathhd.candidates import Candidates
from pathhd_numpy import NumpyPathHD

K = 3
NUMPY = "numpy + scipy CSR, shared prefixes"
MOVIES = 16_000
# Edges of a movie, and entities they lead to, as in MetaQA.
RELATIONS = {
    "directed_by": (1.0, 6_000),
    "has_genre": (1.6, 25),
    "has_imdb_rating": (0.1, 5),
    "has_imdb_votes": (0.1, 5),
    "has_tags": (1.9, 7_000),
    "in_language": (0.4, 130),
    "release_year": (1.0, 100),
    "starred_actors": (1.9, 11_000),
    "written_by": (1.3, 9_000),
}


@dataclass
class Asked:
    text: str
    topic: str


def cases(quick: bool, threads: int) -> list[Case]:
    count = 20 if quick else 100
    parts = [_Part(hops, count, threads) for hops in (1, 2, 3)]
    return [_whole(parts, count), *(part.case(count) for part in parts)]


class _Part:
    """Questions of one hop count, what answers them, and what to compare that with."""

    def __init__(self, hops, count, threads):
        self.hops, self.threads = hops, threads
        self.kg, self.questions, encoder, self.source = _questions(hops, count)
        options = {"max_hops": hops, "inverse": True, "return_to_topic": False, "k": K}
        self.system = PathHD(self.kg, encoder, "embedding", **options)
        self.plans = {q.text: _plan_of(self.system, q, hops) for q in self.questions}
        self.given = PathHD(self.kg, encoder, Given(self.plans), **options)
        self.baseline = _numpy(self.given, self.plans, hops) if installed("scipy") else None

    def ours(self):
        return [self.given.retrieve(q.text, q.topic, threads=self.threads) for q in self.questions]

    def theirs(self):
        return [self.baseline(q) for q in self.questions]

    def check(self):
        for question, evidence in zip(self.questions, self.ours(), strict=True):
            _assert_exact(self.given, evidence, self.hops, self.plans[question.text])
            if self.baseline:
                _assert_same(self.kg, evidence, self.baseline(question))

    def case(self, count):
        hops = f"{self.hops} hop{'s' * (self.hops > 1)}"
        size = f"{count} questions of {hops}, {self.source}, plans given"
        others = [Baseline(NUMPY, self.theirs if self.baseline else None)]
        report = partial(_waiting, self.system, self.questions, self.threads)
        return Case("retrieve", size, self.ours, others, self.check, report=report)


def _whole(parts, count):
    """All hop counts together: what the whole benchmark takes."""

    def check():
        for part in parts:
            part.check()

    size = f"{count} questions each of 1, 2 and 3 hops, {parts[0].source}, plans given"
    measured = all(part.baseline for part in parts)
    theirs = (lambda: [part.theirs() for part in parts]) if measured else None
    return Case(
        "retrieve all",
        size,
        lambda: [part.ours() for part in parts],
        [Baseline(NUMPY, theirs)],
        check,
    )


class Given:
    """A planner that was told its plans."""

    name = "given"

    def __init__(self, plans):
        self._plans = plans

    def plan(self, question, mention, candidates):
        """The plans, in the order they were given in."""
        return self._plans[question]


def _plan_of(system, question, hops):
    sequences = _sequences(system.kg, question.topic, hops)
    candidates = Candidates(sequences, system.kg.symbols)
    return system.planner.plan(question.text, None, candidates)


def _sequences(kg, topic, hops):
    return kg.sequences(topic, hops, inverse=True, return_to_topic=False)


def _numpy(system, plans, hops):
    other = NumpyPathHD(system.kg, system.codebook, hops, K)

    def retrieve(question):
        def chosen(parts):
            listed = [row for part in parts for row in part]
            return [listed[i] for i in plans[question.text].sequences[:K].tolist()]

        return other.retrieve(system.kg.entity_id(question.topic), chosen)

    return retrieve


def _assert_exact(system, evidence, hops, plans):
    """Every candidate scored in float64: the best K are those found."""
    paths = _sequences(system.kg, evidence.topic, hops)
    blocks = system.codebook.array.astype(np.complex128)

    def encode(path):
        product = np.eye(blocks.shape[-1])
        for symbol in path:
            product = product @ blocks[symbol]
        return product

    chosen = plans.sequences[:K].tolist()
    weights = range(len(chosen), 0, -1)
    query = sum(w * encode(paths[index]) for w, index in zip(weights, chosen, strict=True))
    norms = np.linalg.norm(query, axis=(1, 2))
    scores = []
    for path in paths:
        vector = encode(path)
        dots = (query.conj() * vector).sum(axis=(1, 2)).real
        scores.append(float((dots / (norms * np.linalg.norm(vector, axis=(1, 2)))).mean()))
    best = sorted(scores, reverse=True)[:K]
    np.testing.assert_allclose([one.score for one in evidence.sequences], best, atol=1e-5)


def _assert_same(kg, evidence, found):
    symbols = kg.symbols
    assert [one.relations for one in evidence.sequences] == [
        [symbols[symbol] for symbol in one.symbols] for one in found
    ]
    scores = [one.score for one in evidence.sequences]
    np.testing.assert_allclose(scores, [one.score for one in found], atol=1e-5)
    assert [one.ends for one in evidence.sequences] == [kg.entity_names(one.ends) for one in found]
    paths = [kg.entity_names(row) for one in found for row in one.paths]
    assert [path.entities for path in evidence.paths] == paths


def _waiting(system, questions, threads):
    """Planner and all: what one question takes, and how many a minute with the vector reader."""
    seconds = []
    for question in questions:
        start = time.perf_counter()
        system.retrieve(question.text, question.topic, threads=threads)
        seconds.append(time.perf_counter() - start)
    texts, topics = [q.text for q in questions], [q.topic for q in questions]
    start = time.perf_counter()
    system.answer_batch(texts, topics, threads=threads)
    per_minute = 60 * len(questions) / (time.perf_counter() - start)
    p50, p99 = 1e3 * np.percentile(seconds, [50, 99])
    return (
        f"planner embedding, {system.encoder.name}: p50 {p50:.2f} ms, p99 {p99:.2f} ms, "
        f"{per_minute:,.0f} answers a minute"
    )


def _questions(hops, count):
    """Graph, questions, encoder and their source."""
    encoder = "wordllama" if installed("wordllama") else "hashing"
    folder = os.environ.get("HYPERHOP_DATA")
    if folder and (Path(folder) / "metaqa").is_dir():
        data = benchmarks.load(f"MetaQA-{hops}", folder)
        asked = [Asked(q.text, q.topic) for q in data.dev[:count]]
        return data.graph, asked, encoder, "MetaQA dev"
    kg, topics = synthetic(seed=0)
    rng = np.random.default_rng(1)
    asked = []
    for topic in rng.choice(topics, count, replace=False).tolist():
        steps = rng.choice(list(RELATIONS), hops).tolist()
        words = " of the ".join(step.replace("_", " ") for step in steps)
        asked.append(Asked(f"what is the {words} of {topic}", topic))
    return kg, asked, encoder, "synthetic"


def synthetic(seed):
    """A graph of MetaQA's shape: movies, and what their relations lead to, some far more often."""
    rng = np.random.default_rng(seed)
    facts = set()
    for relation, (edges, tails) in RELATIONS.items():
        count = int(edges * MOVIES)
        movies = rng.integers(0, MOVIES, count).tolist()
        weights = np.arange(1, tails + 1) ** -0.6
        drawn = rng.choice(tails, count, p=weights / weights.sum()).tolist()
        # people are shared between the relations that name them
        kind = "person" if relation.endswith(("_by", "_actors")) else relation
        facts.update(
            (f"movie {movie}", relation, f"{kind} {tail}")
            for movie, tail in zip(movies, drawn, strict=True)
        )
    return KnowledgeGraph.from_triples(sorted(facts)), sorted({head for head, _, _ in facts})
