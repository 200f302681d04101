"""Whole HELP retrieval, from the vector of a question to passages, without an encoder in the loop.

Compared with HippoRAG-style retrieval over the same triples and embeddings: a product of the
question with every triple and passage, personalised PageRank by igraph over all nodes, a full sort.
The encoding of a question, which both need alike, is left out of the ratio and told beside it.
"""

import time

import numpy as np

import scale
from bench_hypernode import extra_megabytes
from harness import Baseline, Case, installed
from help_corpus import PASSAGES, Corpus
from hyperhop.evaluate.baselines import PPR
from hyperhop.help import HELP, Passage, build_index
from hyperhop.hypernode import expand
from hyperhop.text import encode_queries

BATCH = 64
SETTINGS = {"levels": 2, "n": 5, "k": 50, "quota": 4, "passages": 5}


def cases(quick: bool, threads: int) -> list[Case]:
    system = _System(300 if quick else PASSAGES, not quick, threads)
    return [system.single(20 if quick else 100), system.batch(), _hub(quick, threads)]


class _System:
    """HELP and the baseline over one index."""

    def __init__(self, passages, real, threads):
        self.corpus = Corpus(passages, real)
        encoder = self.corpus.encoder
        self.index = build_index(self.corpus.passages, self.corpus.triples, encoder)
        self.help = HELP(self.index, encoder, **SETTINGS)
        self.ppr = PPR(self.index, encoder, SETTINGS["passages"]) if installed("igraph") else None
        self.threads = threads
        self.size = (
            f"{self.index.num_passages:,} passages, {self.index.num_triples:,} triples "
            f"({self.corpus.source}), d {encoder.dim}"
        )

    def single(self, count):
        questions = self.corpus.questions[:count]

        def ours():
            return [self.help.retrieve(text, threads=self.threads) for text in questions]

        def theirs():
            return [self.ppr.retrieve(text) for text in questions]

        def check():
            # Without `named` seeds go by cosines alone, so that they can be told in two lines.
            plain = HELP(self.index, self.corpus.encoder, named=0, **SETTINGS)
            for text in questions[:10]:
                _assert_best(self.index, self.corpus.encoder, text, plain.retrieve(text))

        def report():
            waits = [self.help.retrieve, *([self.ppr.retrieve] if self.ppr else [])]
            mine, *other = (_percentiles(wait, questions) for wait in waits)
            encode = _percentiles(lambda text: self.corpus.encoder.base.encode([text]), questions)
            against = f"; HippoRAG-style {other[0]}" if other else ""
            return f"a question waits {mine}{against}; its encoding, not counted, {encode}"

        return Case(
            "HELP retrieval",
            f"{count} questions one by one, {self.size}",
            ours,
            [Baseline("HippoRAG-style (igraph prpack)", theirs if self.ppr else None)],
            check,
            report=report,
        )

    def batch(self):
        asked = self.corpus.questions
        questions = [asked[i % len(asked)] for i in range(BATCH)]
        part = BATCH // 4

        def ours():
            return self.help.retrieve_batch(questions, threads=self.threads)

        def theirs():
            return [self.ppr.retrieve(text) for text in questions[:part]]

        def check():
            for text, evidence in zip(questions, ours(), strict=True):
                alone = self.help.retrieve(text)
                assert [p.id for p in alone.passages] == [p.id for p in evidence.passages]
                assert [p.score for p in alone.passages] == [p.score for p in evidence.passages]

        return Case(
            "HELP retrieval in a batch",
            f"{BATCH} questions, {self.size}",
            ours,
            [Baseline("HippoRAG-style, one by one", theirs if self.ppr else None, part / BATCH)],
            check,
        )


def _assert_best(index, encoder, text, evidence):
    """The HyperNodes of an evidence are the k best by float64 cosines of sums."""
    query = encode_queries(encoder, [text])[0].astype(np.float64)
    rows = index.triple_embeddings.astype(np.float64)
    seeds = np.argsort(-(rows @ query), kind="stable")[: SETTINGS["n"]]
    sets = expand(index.triple_index, seeds[:, None])
    sums = np.where(sets[..., None] >= 0, rows[sets], 0).sum(axis=1)
    cosines = sums @ query / np.linalg.norm(sums, axis=1)
    best = np.sqrt(2 - 2 * np.sort(cosines)[::-1][: SETTINGS["k"]])
    assert np.abs([node.distance for node in evidence.hypernodes] - best).max() < 1e-5


def _percentiles(call, questions) -> str:
    waits = []
    for text in questions:
        start = time.perf_counter()
        call(text)
        waits.append((time.perf_counter() - start) * 1e3)
    return f"{np.percentile(waits, 50):.2f} ms (p95 {np.percentile(waits, 95):.2f})"


def _hub(quick, threads) -> Case:
    """Two triples of three meet in one entity: every seed leads to all of them."""
    triples = 3_000 if quick else 300_000
    rng = np.random.default_rng(0)
    passages = [Passage(str(i), f"passage {i}") for i in range(triples // 10)]
    stated = [
        [("hub" if j % 3 else f"head {i} {j}", f"relation {j}", f"tail {i} {j}") for j in range(10)]
        for i in range(triples // 10)
    ]
    index = build_index(passages, stated, _Random(rng, 64 if quick else 384))
    system = HELP(index, _Random(rng, index.encoder["encoder_dim"]), **SETTINGS)

    def ours():
        return system.retrieve("question", threads=threads)

    def check():
        assert len(ours().hypernodes) == SETTINGS["k"]

    def report():
        extra, held = extra_megabytes(ours), scale.resident_gb() * 1e3
        return f"peak memory {extra:.1f} MB beyond the {held:.0f} MB of the process with its index"

    hub = np.bincount(index.triples[:, [0, 2]].ravel()).max()
    size = f"a hub of {hub:,} edges, {index.num_triples:,} triples"
    return Case("HELP retrieval at a hub", size, ours, [], check, report=report)


class _Random:
    """An encoder of random unit rows."""

    name, query_prompt = "random", ""

    def __init__(self, rng, dim):
        self._rng, self.dim = rng, dim

    def encode(self, texts):
        rows = self._rng.normal(size=(len(texts), self.dim)).astype(np.float32)
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)
