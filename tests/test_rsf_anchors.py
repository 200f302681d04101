"""Dense anchors: the entities nearest to a question, with faiss and without alike."""

import numpy as np
import pytest

from hyperhop import KnowledgeGraph
from hyperhop.graph.linking import nearest as nearest_module
from hyperhop.graph.linking.nearest import nearest
from hyperhop.retrieval.topics import TopicNotFound
from hyperhop.rsf import RSF, DenseAnchors
from hyperhop.rsf.text import encode_entities
from hyperhop.text import HashingEncoder
from rsf_models import save_cosine_model, save_random_model

NAMES = ["Inception", "Christopher Nolan", "Academy Award", "New_York", "m.0abc12"]


@pytest.fixture
def kg():
    return KnowledgeGraph.from_triples((name, "near", NAMES[0]) for name in NAMES[1:])


@pytest.fixture
def anchors(kg):
    encoder = HashingEncoder(128)
    return DenseAnchors(kg, encode_entities(kg, encoder), encoder)


def test_finds_what_a_question_is_about(anchors, kg):
    questions = ["what did the director of inceptions win", "who lives in new york", "zzz"]
    found = anchors.find(questions, k=2)
    assert kg.entity_name(found[0][0][0]) == "Inception"
    assert kg.entity_name(found[1][0][0]) == "New_York"
    for hits in found:
        products = [product for _, product in hits]
        assert products == sorted(products, reverse=True)
        assert all(product > 0 for product in products)


def test_a_name_without_words_and_an_empty_question_match_nothing(anchors, kg):
    opaque = kg.entity_id("m.0abc12")
    assert all(entity != opaque for entity, _ in anchors.find(["m.0abc12"], k=9)[0])
    assert anchors.find(["", "?"], k=3) == [[], []]
    assert anchors.find([]) == []


def test_products_are_exact_and_ties_go_to_the_lower_id():
    kg = KnowledgeGraph.from_triples([("b a", "r", "a b"), ("c", "r", "b a")])
    encoder = HashingEncoder(64)
    rows = encode_entities(kg, encoder)
    (hits,) = DenseAnchors(kg, rows, encoder).find(["a b"], k=3)
    assert [entity for entity, _ in hits[:2]] == [kg.entity_id("a b"), kg.entity_id("b a")]
    query = encoder.encode(["a b"])[0]
    for entity, product in hits:
        assert product == np.sum(rows[entity] * query, dtype=np.float64)


def test_refusals(kg):
    with pytest.raises(ValueError, match=r"rows must have shape \(5, 64\), got \(2, 64\)"):
        DenseAnchors(kg, np.zeros((2, 64), np.float32), HashingEncoder(64))
    encoder = HashingEncoder(64)
    with pytest.raises(ValueError, match="k must be at least 1"):
        DenseAnchors(kg, encode_entities(kg, encoder), encoder).find(["a"], k=0)


@pytest.mark.needs("faiss")
def test_faiss_and_numpy_agree(monkeypatch):
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((3_000, 32), np.float32)
    queries = rng.standard_normal((20, 32), np.float32)
    with_faiss = nearest(queries, rows, 10)
    monkeypatch.setattr(nearest_module, "_faiss", lambda: None)
    monkeypatch.setattr(nearest_module, "_BLOCK", 700)
    for (ids, products), (expected, theirs) in zip(
        nearest(queries, rows, 10), with_faiss, strict=True
    ):
        assert ids.tolist() == expected.tolist()
        assert products.tolist() == theirs.tolist()  # taken again row by row: the same bits


def test_more_than_there_are(monkeypatch):
    monkeypatch.setattr(nearest_module, "_faiss", lambda: None)
    rows = np.eye(3, dtype=np.float32)
    ((ids, products),) = nearest(np.array([[0, 2, 1]], np.float32), rows, 9)
    assert ids.tolist() == [1, 2, 0]
    assert products.tolist() == [2.0, 1.0, 0.0]
    ((ids, products),) = nearest(rows[:1], rows[:0], 2)
    assert len(ids) == len(products) == 0


@pytest.mark.parametrize("save", [save_random_model, save_cosine_model])
def test_asking_where_no_name_is_spelled(kg, tmp_path, save):
    """With stored vectors of entities, and without: then they are encoded when they are needed."""
    model = save(tmp_path / "m", kg)
    with pytest.raises(TopicNotFound):
        RSF.load(model).retrieve("what is near inceptions")
    found = RSF.load(model, anchors="dense")
    assert found.retrieve("what is near inceptions").topic == "Inception"
    with pytest.raises(TopicNotFound):
        found.retrieve("")
