"""Sequences and paths against the plain-Python reference, and their bounds."""

from itertools import chain

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, Paths
from hyperhop._core import GraphLimits
from hyperhop.graph import UnknownEntity, walks
from reference_graph import ReferenceGraph
from strategies_graph import some_triples

switches = st.fixed_dictionaries({"inverse": st.booleans(), "return_to_topic": st.booleans()})


def both(triples):
    return KnowledgeGraph.from_triples(triples), ReferenceGraph(triples)


def as_lists(paths):
    return [tuple(map(int, sequence)) for sequence in paths]


def complete_graph(nodes, relations):
    return KnowledgeGraph.from_triples(
        (f"e{a:03}", f"r{r}", f"e{b:03}")
        for a in range(nodes)
        for b in range(nodes)
        if a != b
        for r in range(relations)
    )


@settings(max_examples=150, deadline=None)
@given(
    some_triples,
    st.integers(0, 3),
    st.none() | st.integers(1, 5),
    st.integers(1, 30) | st.just(100_000),
    switches,
)
def test_sequences_equal_the_reference(triples, hops, beam, cap, switches):
    kg, reference = both(triples)
    found = kg.sequences(0, hops, beam=beam, cap=cap, **switches)
    expected, truncated = reference.sequences(
        0, hops, beam, cap, switches["inverse"], switches["return_to_topic"]
    )
    assert as_lists(found) == expected
    assert found.truncated == truncated


@settings(max_examples=150, deadline=None)
@given(
    some_triples, st.integers(0, 3), st.integers(1, 40) | st.just(100_000), st.booleans(), switches
)
def test_paths_equal_the_reference(triples, hops, cap, simple, switches):
    kg, reference = both(triples)
    found = kg.paths(0, hops, cap=cap, simple=simple, **switches)
    sequences, _ = reference.sequences(
        0, hops, inverse=switches["inverse"], back=switches["return_to_topic"]
    )
    assert as_lists(found.sequences) == sequences
    check_paths(found, reference, sequences, cap, simple, switches["return_to_topic"])


@settings(max_examples=150, deadline=None)
@given(some_triples, st.data(), st.integers(1, 40), st.booleans(), st.booleans())
def test_paths_of_given_sequences(triples, data, cap, simple, back):
    kg, reference = both(triples)
    symbols = st.integers(0, 2 * kg.num_relations - 1)
    sequences = data.draw(st.lists(st.lists(symbols, max_size=3), max_size=6))
    found = kg.paths(
        0, 3, Paths.from_lists(sequences), cap=cap, simple=simple, return_to_topic=back
    )
    check_paths(found, reference, sequences, cap, simple, back)


def check_paths(found, reference, sequences, cap, simple, back):
    kept, ends, truncated = reference.paths(0, sequences, cap, simple, back)
    assert [as_lists(found.of_sequence(i)) for i in range(len(sequences))] == kept
    assert [found.ends_of(i).tolist() for i in range(len(sequences))] == ends
    assert [tuple(found.path(i).tolist()) for i in range(len(found))] == [*chain(*kept)]
    assert found.truncated == truncated
    assert not found.ends_truncated
    assert len(found) == sum(map(len, kept)) <= cap


@settings(max_examples=30, deadline=None)
@given(some_triples, st.randoms(use_true_random=False))
def test_order_of_the_input_does_not_matter(triples, random):
    shuffled = triples + triples[:2]
    random.shuffle(shuffled)
    one, two = KnowledgeGraph.from_triples(triples), KnowledgeGraph.from_triples(shuffled)
    assert one.sequences(0, 3, beam=3, inverse=True) == two.sequences(0, 3, beam=3, inverse=True)
    paths = [kg.paths(0, 3, cap=20, inverse=True).entities for kg in (one, two)]
    np.testing.assert_array_equal(*paths)


def test_dense_graph_is_walked_by_sets():
    kg = complete_graph(60, 5)
    full = kg.sequences("e000", 4, inverse=True, cap=1_000_000)
    assert len(full) == 10 + 100 + 1_000 + 10_000
    assert not full.truncated
    cut = kg.sequences("e000", 4, inverse=True, cap=5_000)
    assert cut.truncated
    assert as_lists(cut) == as_lists(full)[:5_000]


def test_every_sequence_keeps_a_path_and_all_its_ends():
    kg = complete_graph(60, 5)
    found = kg.paths("e000", 3, cap=200, return_to_topic=False)
    counts = np.diff(found.offsets)
    assert counts.sum() == 200
    assert counts.min() == 1
    assert counts[0] == 46  # 155 sequences; what their firsts leave goes to the first one
    assert found.truncated
    assert not found.ends_truncated
    assert set(np.diff(found.end_offsets)) == {59}
    assert found.sequence_of(0) == 0
    assert found.sequence_of(199) == 154


def test_more_sequences_than_cap():
    found = complete_graph(10, 5).paths("e000", 2, cap=7)
    assert np.diff(found.offsets).tolist() == [1] * 7 + [0] * 23
    assert found.truncated


def test_ends_of_simple_paths_are_found_behind_dead_ends():
    # Forward search would try 40 ** 3 paths through e001 before one that ends there.
    found = complete_graph(40, 1).paths(
        "e000", 4, Paths.from_lists([[0, 0, 0, 0]]), cap=1, simple=True
    )
    assert found.ends.tolist() == list(range(1, 40))
    assert found.truncated
    assert not found.ends_truncated


def test_limits_are_reported(monkeypatch):
    kg = complete_graph(30, 3)
    full = as_lists(kg.sequences(0, 3, inverse=True))
    for edges in (0, 50, 500, 5_000):
        monkeypatch.setattr(walks, "_LIMITS", GraphLimits(edges, 10**8, 10**6))
        cut = kg.sequences(0, 3, inverse=True)
        assert cut.truncated
        assert as_lists(cut) == full[: len(cut)]
        assert len(cut) < len(full)
        paths = kg.paths(0, 3, Paths.from_lists(full), cap=10**9)
        assert paths.truncated
        assert paths.ends_truncated
    monkeypatch.setattr(walks, "_LIMITS", GraphLimits(10**9, 1_000, 10**6))
    assert kg.sequences(0, 3).truncated
    cut = kg.paths(0, 2, Paths.from_lists([[0], [0, 0]]))
    assert cut.truncated
    assert len(cut.entities) + len(cut.ends) <= 1_000


def test_steps_of_simple_search_are_limited(monkeypatch):
    # Two relations make a ladder of walks, but only the topic leads to the last step.
    kg = KnowledgeGraph.from_triples(
        [("t", "r", f"a{i}") for i in range(80)]
        + [(f"a{i}", "r", f"b{j}") for i in range(80) for j in range(80)]
        + [(f"b{j}", "r", "t") for j in range(80)]
        + [("t", "s", "end")]
    )
    sequence = Paths.from_lists([["r", "r", "r", "s"]], kg.symbols)
    found = kg.paths("t", 4, sequence, simple=True)
    assert (len(found), found.truncated, found.ends_truncated) == (0, False, False)
    monkeypatch.setattr(walks, "_LIMITS", GraphLimits(10**9, 10**8, 10))
    found = kg.paths("t", 4, sequence, simple=True)
    assert (len(found), found.truncated, found.ends_truncated) == (0, True, False)


def test_many_hops_stop_at_the_limit_of_ids(monkeypatch):
    kg = KnowledgeGraph.from_triples([("a", "r", "a")])
    monkeypatch.setattr(walks, "_LIMITS", GraphLimits(10**9, 10_000, 10**6))
    found = kg.sequences("a", 10**9)
    assert found.truncated
    assert found.lengths.tolist() == list(range(1, len(found) + 1))
    assert found.symbols.size <= 10_000


def test_empty_results():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    assert len(kg.sequences("b", 3)) == 0
    assert len(kg.sequences("a", 0)) == 0
    found = kg.paths("b", 3)
    assert (len(found), len(found.sequences), found.ends.size) == (0, 0, 0)
    empty_sequence = kg.paths("b", 0, Paths.from_lists([[]]))
    assert empty_sequence.path(0).tolist() == [1]
    assert empty_sequence.ends.tolist() == [1]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda kg: kg.sequences("a", -1), ValueError, "sequences: max_hops must be at least 0"),
        (lambda kg: kg.sequences("a", 1, cap=0), ValueError, "sequences: cap must be at least 1"),
        (lambda kg: kg.sequences("a", 1, beam=0), ValueError, "sequences: beam must be at least"),
        (lambda kg: kg.sequences("a", 1.5), TypeError, "max_hops must be an integer, got float"),
        (lambda kg: kg.sequences("a", True), TypeError, "max_hops must be an integer, got bool"),
        (lambda kg: kg.paths("a", -1), ValueError, "paths: max_hops must be at least 0, got -1"),
        (lambda kg: kg.paths("a", 1, cap=0), ValueError, "paths: cap must be at least 1, got 0"),
        (lambda kg: kg.paths("a", 1, [[0, 0]]), ValueError, "at most max_hops = 1 symbols, got 2"),
        (lambda kg: kg.paths("a", 1, [[2]]), ValueError, "the symbol 2, expected 0 <= symbol < 2"),
        (lambda kg: kg.paths("a", 1, "r"), TypeError, "paths: paths must be hyperhop.Paths"),
        (lambda kg: kg.sequences("c", 1), UnknownEntity, "no entity named 'c'"),
        (lambda kg: kg.sequences(2, 1), IndexError, "topic must be an id below 2, got 2"),
        (lambda kg: kg.sequences(-1, 1), IndexError, "topic must be an id below 2, got -1"),
        (lambda kg: kg.sequences(None, 1), TypeError, "topic must be an integer, got NoneType"),
        (lambda kg: kg.paths("a", 1).path(1), IndexError, "path 1 of 1"),
        (lambda kg: kg.paths("a", 1).ends_of(-1), IndexError, "sequence -1 of 1"),
    ],
)
def test_bad_arguments_say_what_is_wrong(call, error, message):
    with pytest.raises(error, match=message.replace("(", r"\(")):
        call(KnowledgeGraph.from_triples([("a", "r", "b")]))


def test_huge_bounds_are_accepted():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    assert as_lists(kg.sequences(np.int64(0), 10**30, cap=10**30, beam=10**30)) == [(0,)]
    assert len(kg.paths("a", 10**30, cap=10**30)) == 1
