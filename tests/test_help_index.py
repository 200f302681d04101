"""The index of passages and triples: what is in it, and what odd input comes to."""

import logging
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from help_corpora import NAMES, Counting, bridge, same, triples
from hyperhop.help import (
    ExtractedPassage,
    Extraction,
    Passage,
    build_index,
    name_key,
)
from hyperhop.text import HashingEncoder

# Everything but surrogates: controls, quotes, separators and all scripts among it.
texts = st.text(st.characters(exclude_categories=["Cs"]))
names = texts.filter(lambda text: text.strip())


def test_names_of_one_key_are_one_entity_shown_as_most_write_it():
    index = build_index(*bridge())
    assert list(index.entities) == ["Bergen", "Calder Bridge", "Ida Brandt", "Norway"]
    # "born in" and "Born_in" are written once each: the first by text is shown
    assert list(index.relations) == ["Born_in", "engineer", "lies in"]
    assert [index.triple(i) for i in range(index.num_triples)] == [
        ("Bergen", "lies in", "Norway"),
        ("Calder Bridge", "engineer", "Ida Brandt"),
        ("Ida Brandt", "Born_in", "Bergen"),
    ]
    assert index.sources.offsets.tolist() == [0, 1, 2, 4]
    assert index.sources.passages.tolist() == [2, 0, 1, 2]
    assert index.sources.weights.tolist() == [0.5, 1, 1, 0.5]
    assert index.triple_counts.tolist() == [1, 1, 2, 0]
    assert (index.num_passages, index.num_entities, index.num_relations) == (4, 4, 3)


def test_texts_that_are_embedded():
    index = build_index(*bridge())
    assert index.serialize([2, 0, -1]) == "Bergen lies in Norway. Ida Brandt Born_in Bergen"
    encoder = HashingEncoder()
    texts = [index.triple_text(triple) for triple in range(3)]
    assert np.array_equal(index.triple_embeddings, encoder.encode(texts))
    full = [passage.full_text for passage in index.passages]
    assert np.array_equal(index.passage_embeddings, encoder.encode(full))
    assert index.encoder["encoder"] == "hashing"


def test_adjacency_follows_names_and_links():
    passages, listed = ["a", "b"], [[("Ida Brandt", "built", "x")], [("Ida A. Brandt", "is", "y")]]
    apart = build_index(passages, listed)
    linked = build_index(passages, listed, synonyms=0.5)
    assert len(apart.links) == 0
    assert [[linked.entities[e] for e in pair] for pair in linked.links] == [
        ["Ida A. Brandt", "Ida Brandt"]
    ]
    assert apart.triple_index.num_triples == linked.triple_index.num_triples == 2


@given(st.lists(triples(), max_size=6), st.randoms(use_true_random=False))
def test_the_graph_does_not_depend_on_the_order_of_passages(listed, random):
    order = list(range(len(listed)))
    random.shuffle(order)
    one = build_index([Passage(f"{i}", "") for i in order], [listed[i] for i in order])
    two = build_index([""] * len(listed), listed)
    assert list(one.entities) == list(two.entities)
    assert list(one.relations) == list(two.relations)
    assert np.array_equal(one.triples, two.triples)
    assert np.array_equal(one.triple_embeddings, two.triple_embeddings)


@given(st.lists(triples(), max_size=6))
def test_against_plain_sets(listed):
    index = build_index([""] * len(listed), listed)
    keyed = [{tuple(map(name_key, triple)) for triple in one} for one in listed]
    stated = [tuple(map(name_key, index.triple(triple))) for triple in range(index.num_triples)]
    assert sorted(stated) == sorted(set().union(*keyed))
    for triple, (start, stop) in enumerate(pairwise(index.sources.offsets)):
        passages = index.sources.passages[start:stop].tolist()
        assert passages == [i for i, one in enumerate(keyed) if stated[triple] in one]
        weights = np.float32([1 / len(keyed[i]) for i in passages])
        assert np.array_equal(index.sources.weights[start:stop], weights)
    shown = [index.triple(triple) for triple in range(index.num_triples)]
    assert shown == sorted(shown)


@given(st.lists(st.tuples(texts, st.none() | texts, st.lists(st.tuples(names, names, names)))))
def test_any_text_comes_back_verbatim(rows):
    passages = [Passage(f"p{i}", text, title) for i, (text, title, _) in enumerate(rows)]
    index = build_index(passages, [listed for _, _, listed in rows], Counting())
    assert list(index.passages) == passages
    written = {name for _, _, listed in rows for h, _, t in listed for name in (h, t)}
    assert set(index.entities) <= written
    assert {name_key(name) for name in written} == {name_key(name) for name in index.entities}


def test_keys():
    assert name_key("IDA  Brandt\u00a0") == name_key("ida_brandt")
    assert name_key("rock ’n’ roll — live") == name_key("Rock 'n' Roll - Live")
    for one, other in (("C", "C++"), ("-5", "5"), ("Ann", "Ann."), ("3.5", "35"), ("é", "e")):
        assert name_key(one) != name_key(other)
    assert name_key("_") == "_"  # nothing would be left of it
    assert all(name_key(name_key(name)) == name_key(name) for name in NAMES)


def test_source_weights():
    index = build_index(*bridge())
    assert index.source_weights() is index.sources.weights
    assert index.source_weights("equal").tolist() == [1, 1, 1, 1]
    assert index.source_weights("root") == pytest.approx([0.5**0.5, 1, 1, 0.5**0.5])
    with pytest.raises(ValueError, match="inverse, root or equal, got 'paper'"):
        index.source_weights("paper")


def test_forms_of_triples():
    passages, listed = bridge()
    index = build_index(passages, listed)
    by_id = {one.id: triples for one, triples in zip(passages, listed, strict=True) if triples}
    assert same(build_index(passages, by_id), index)
    extraction = Extraction(
        [
            ExtractedPassage(one, "parsed", triples=triples)
            for one, triples in zip(passages, listed, strict=True)
        ]
    )
    assert same(build_index(passages, extraction), index)
    assert same(build_index(None, extraction), index)
    assert build_index(passages).num_triples == 0


def test_failed_passages_of_an_extraction_are_told_and_kept(caplog):
    extraction = Extraction([ExtractedPassage(Passage("a", "text"), "failed", reason="no reply")])
    index = build_index(None, extraction)
    assert [index.num_passages, index.num_triples] == [1, 0]
    assert "1 passages have no triples: their extraction failed" in caplog.text


@pytest.mark.parametrize("storage", ["float32", "float16"])
def test_odd_corpora(storage):
    def build(passages, listed=None):
        return build_index(passages, listed, Counting(), storage=storage, synonyms=0.8)

    nothing = build([])
    assert [nothing.num_passages, nothing.num_triples, nothing.num_entities] == [0, 0, 0]
    assert nothing.triple_embeddings.shape == nothing.passage_embeddings.shape == (0, 16)
    assert nothing.triple_index.num_triples == 0
    empty = build(["", "  \n", "words"], [[], [("a", "b", "c")], []])
    assert empty.triple_counts.tolist() == [0, 1, 0]
    assert not empty.passage_embeddings[:2].any()
    assert empty.passage_embeddings[2].any()
    one = build(["alone"], [[("a", "b", "a")]])
    assert one.triples.tolist() == [[0, 0, 0]]
    twice = build(["same", "same"], [[("a", "b", "c")] * 3, [("A", "B", "C")]])
    assert twice.num_passages == 2
    assert twice.sources.passages.tolist() == [0, 1]
    assert twice.sources.weights.tolist() == [1, 1]
    assert twice.storage == storage
    assert twice.triple_embeddings.dtype == storage
    long = "word 🦔\n" * 100_000  # a megabyte
    assert build([long]).passages[0].text == long


def test_rows_that_are_zero_or_no_numbers(caplog):
    rows = {"zero": np.zeros(16), "nan": np.full(16, np.nan), "half": [np.inf] + 15 * [0.1]}
    listed = [[("half", "is", "nan")], [("zero", "is", "whole")], [], []]
    rows["half is nan"] = rows["half"]
    passages = ["zero", "nan", "half", "whole"]
    with caplog.at_level(logging.WARNING):
        index = build_index(passages, listed, Counting(rows), synonyms=0.1)
    assert not index.passage_embeddings[0].any()
    assert np.isnan(index.passage_embeddings[1:3]).all()
    assert np.isfinite(index.passage_embeddings[3]).all()
    assert np.isnan(index.triple_embeddings).all(axis=1).tolist() == [True, False]
    assert "gave NaN or infinity for 2 passages" in caplog.text
    assert len(index.links) == 0  # neither a zero row nor NaN is near anything
    assert index.num_passages == 4


def test_progress_tells_texts():
    told = []
    index = build_index(*bridge(), synonyms=0.9, progress=lambda done, of: told.append((done, of)))
    total = index.num_passages + index.num_triples + index.num_entities
    assert told[0] == (0, total)
    assert told[-1] == (total, total)


@pytest.mark.parametrize(
    ("listed", "error", "message"),
    [
        ([[]], ValueError, "one list for each of 2 passages, got 1"),
        ({"zzz": []}, ValueError, "triples holds 'zzz', which no passage has as id"),
        ([[], [("a", "b")]], TypeError, r"\(head, relation, tail\) of str, got \('a', 'b'\)"),
        ([["abc"], []], TypeError, "got 'abc' for the passage '0'"),
        ([[("a", 1, "b")], []], TypeError, "of str"),
        ([[("a", " ", "b")], []], ValueError, "a triple of the passage '0' has a blank part"),
        ([[("a", "\ud800", "b")], []], ValueError, "lone surrogate"),
    ],
)
def test_triples_that_are_refused(listed, error, message):
    with pytest.raises(error, match=message):
        build_index(["a", "b"], listed)


def test_arguments_that_are_refused():
    with pytest.raises(ValueError, match="storage must be float32 or float16, got 'int8'"):
        build_index(["a"], storage="int8")
    for threshold in (0, -1, 1.5, float("nan")):
        with pytest.raises(ValueError, match="synonyms must be above 0 and at most 1"):
            build_index(["a"], synonyms=threshold)
    with pytest.raises(TypeError, match="passages must be given unless triples is an Extraction"):
        build_index(None)
