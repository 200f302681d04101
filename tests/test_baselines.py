"""Baselines against plain computations of what they are."""

from collections import Counter
from math import log

import numpy as np
import pytest

from hyperhop.evaluate.baselines import BM25, PPR, Dense, RankGraph
from hyperhop.help import build_index
from hyperhop.text import HashingEncoder, encode_queries
from passage_files import corpus, openie

ENCODER = HashingEncoder(64)
QUESTION = "Who founded the firm that made the Quill pen?"


@pytest.fixture(scope="module")
def index():
    triples = [[tuple(one) for one in doc["extracted_triples"]] for doc in openie()["docs"]]
    return build_index(corpus(), triples, ENCODER, synonyms=0.6)


@pytest.fixture(scope="module")
def bare():
    return build_index(corpus(), None, ENCODER)


def ids(evidence):
    return [passage.id for passage in evidence.passages]


def test_dense_is_the_order_of_cosines(index):
    evidence = Dense(index, ENCODER, 4).retrieve(QUESTION)
    query = encode_queries(ENCODER, [QUESTION])[0]
    cosines = index.passage_embeddings @ query
    best = np.argsort(-cosines, kind="stable")[:4]
    assert ids(evidence) == [str(place) for place in best]
    np.testing.assert_allclose([one.score for one in evidence.passages], cosines[best], atol=1e-6)
    assert set(evidence.timings) == {"encode", "rank", "passages"}
    assert evidence.passages[0].title == corpus()[best[0]]["title"]


def test_equal_scores_go_by_position(index):
    evidence = Dense(index, ENCODER, 20).retrieve("   ")
    assert ids(evidence) == [str(place) for place in range(13)]


@pytest.mark.needs("bm25")
def test_bm25_is_its_formula(index):
    evidence = BM25(index, 3).retrieve("Tarn boat, made by whom?")
    texts = [f"{one['title']} {one['text']}".casefold() for one in corpus()]
    words = ["".join(c if c.isalnum() else " " for c in text).split() for text in texts]
    mean = np.mean([len(of) for of in words])
    scores = np.zeros(len(words))
    for word in ("tarn", "boat", "made", "by", "whom"):
        found = sum(word in of for of in words)
        idf = log(1 + (len(words) - found + 0.5) / (found + 0.5))
        for place, of in enumerate(words):
            times = Counter(of)[word]
            scores[place] += idf * times / (times + 1.2 * (1 - 0.75 + 0.75 * len(of) / mean))
    best = np.argsort(-scores, kind="stable")[:3]
    assert ids(evidence) == [str(place) for place in best]
    # the factor k1 + 1, which changes no order, is left out by the library's form of Lucene
    np.testing.assert_allclose([one.score for one in evidence.passages], scores[best], rtol=1e-5)


@pytest.mark.needs("bm25")
def test_bm25_of_words_that_no_passage_has(index):
    assert ids(BM25(index, 2).retrieve("zyzzyva?")) == ["0", "1"]
    assert BM25(build_index(["", "?"], None, ENCODER)).retrieve("a").passages[0].score == 0
    assert BM25(build_index([], None, ENCODER)).retrieve("a").passages == []


def stationary(edges, nodes, reset, damping):
    """Personalised PageRank by repeated steps over a dense matrix."""
    weights = np.zeros((nodes, nodes))
    for a, b, weight in edges:
        weights[a, b] += weight
        weights[b, a] += weight
    sums = weights.sum(axis=1, keepdims=True)
    start = reset / reset.sum()
    steps = np.where(sums > 0, weights / np.where(sums > 0, sums, 1), start)
    share = start
    for _ in range(200):
        share = damping * share @ steps + (1 - damping) * start
    return share


@pytest.mark.needs("igraph")
def test_the_walk_over_entities_and_passages():
    triples = np.array([[0, 0, 1], [1, 1, 2], [2, 0, 2], [1, 2, 0]])
    offsets, passages = np.array([0, 2, 3, 4, 5]), np.array([0, 1, 1, 2, 0])
    links, similar = np.array([[3, 0]]), np.array([0.75], np.float32)
    graph = RankGraph(triples, offsets, passages, links, similar, 4, 4)
    edges = [(0, 1, 2), (1, 2, 1), (1, 0, 1)]  # the self loop is none
    edges += [(0, 4, 1), (1, 4, 1), (0, 5, 1), (1, 5, 1), (2, 5, 1), (2, 6, 1), (3, 0, 0.75)]
    assert graph.num_edges == 9
    assert graph.mentions.tolist() == [2, 2, 2, 0]
    reset = np.array([1.0, 0, 0.5, 0, 0.1, 0, 0, 0.2])  # passage 7 - 4 = 3 has no edge
    expected = stationary(edges, 8, reset, 0.5)
    np.testing.assert_allclose(graph.rank(reset), expected, atol=1e-9)


@pytest.mark.needs("igraph")
def test_ppr_starts_at_the_best_triples(index):
    system = PPR(index, ENCODER, 5, triples=2, entities=3)
    query = encode_queries(ENCODER, [QUESTION])[0]
    cosines = (index.triple_embeddings @ query).astype(np.float64)
    scores = (cosines - cosines.min()) / (cosines.max() - cosines.min())
    starts = Counter()
    named = Counter()
    for triple in np.argsort(-scores, kind="stable")[:2]:
        for entity in index.triples[triple][[0, 2]]:
            starts[entity] += scores[triple] / system.graph.mentions[entity]
            named[entity] += 1
    weights = {entity: starts[entity] / named[entity] for entity in starts}
    reset = np.zeros(index.num_entities + index.num_passages)
    for entity in sorted(weights, key=lambda one: (-weights[one], one))[:3]:
        reset[entity] = weights[entity]
    dense = (index.passage_embeddings @ query).astype(np.float64)
    reset[index.num_entities :] = 0.05 * (dense - dense.min()) / (dense.max() - dense.min())
    expected = system.graph.rank(reset)[index.num_entities :]
    np.testing.assert_allclose(system.scores(query), expected, atol=1e-12)
    evidence = system.retrieve(QUESTION)
    assert ids(evidence) == [str(place) for place in np.argsort(-expected, kind="stable")[:5]]
    assert ids(evidence) == [str(place) for place in system.rank(query)[:5]]
    assert {evidence.passages[0].title, evidence.passages[1].title} == {"Quill", "the Quill pen"}


@pytest.mark.needs("igraph")
def test_ppr_of_an_empty_question_and_without_triples(index, bare):
    assert len(PPR(index, ENCODER, 20).retrieve("").passages) == 13
    with pytest.raises(ValueError, match="needs triples"):
        PPR(bare, ENCODER)


def test_bad_arguments(index):
    with pytest.raises(ValueError, match="passages must be at least 1"):
        Dense(index, ENCODER, 0)
    with pytest.raises(TypeError, match="passages must be an integer"):
        Dense(index, ENCODER, 2.5)


@pytest.mark.parametrize(
    ("make", "module", "extra"),
    [
        (lambda index: BM25(index), "bm25s", "bm25"),
        (lambda index: PPR(index, ENCODER), "igraph", "igraph"),
    ],
)
def test_without_the_library_the_extra_is_named(index, monkeypatch, make, module, extra):
    monkeypatch.setitem(__import__("sys").modules, module, None)
    with pytest.raises(ImportError, match=rf"hyperhop\[{extra}\]"):
        make(index)
