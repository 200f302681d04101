"""Sequences and paths against the plain-Python reference, and their bounds."""

import pickle
from itertools import chain
from time import perf_counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, Paths
from hyperhop._core import GraphLimits
from hyperhop.graph import DamagedStore, Sequences, UnknownEntity, walks
from reference_graph import ReferenceGraph
from strategies_graph import some_triples

switches = st.fixed_dictionaries({"inverse": st.booleans(), "return_to_topic": st.booleans()})
no_rules = {"max_degree": None, "hubs": "sample", "mediators": None}
rules = st.just(no_rules) | st.fixed_dictionaries(
    {
        "max_degree": st.none() | st.integers(1, 4),
        "hubs": st.sampled_from(["sample", "skip"]),
        "mediators": st.none() | st.lists(st.integers(0, 5), max_size=3),
    }
)


def both(triples, rules=no_rules):
    """The graph, its reference, and `rules` for the graph's methods."""
    kg = KnowledgeGraph.from_triples(triples)
    if rules["mediators"] is not None:
        ids = [entity for entity in rules["mediators"] if entity < kg.num_entities]
        rules = {**rules, "mediators": ids}
    reference = ReferenceGraph(triples, **{**rules, "mediators": rules["mediators"] or ()})
    return kg, reference, rules


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


@settings(max_examples=120, deadline=None)
@given(
    some_triples,
    st.integers(0, 3),
    st.none() | st.integers(1, 5),
    st.integers(1, 30) | st.just(100_000),
    switches,
    rules,
)
def test_sequences_equal_the_reference(triples, hops, beam, cap, switches, rules):
    kg, reference, rules = both(triples, rules)
    found = kg.sequences(0, hops, beam=beam, cap=cap, **switches, **rules)
    inverse, back = switches["inverse"], switches["return_to_topic"]
    expected, truncated = reference.sequences(0, hops, beam, cap, inverse, back)
    assert as_lists(found) == expected
    assert found.truncated == truncated
    walks = reference.walks(0, hops, inverse, back)
    hubs = reference.hubs_left(0, walks, hops, inverse)
    if beam is None and not truncated:
        assert found.hubs.tolist() == hubs
    else:
        assert set(found.hubs.tolist()) <= set(hubs)


@settings(max_examples=120, deadline=None)
@given(
    some_triples,
    st.integers(0, 3),
    st.integers(1, 40) | st.just(100_000),
    st.booleans(),
    switches,
    rules,
)
def test_paths_equal_the_reference(triples, hops, cap, simple, switches, rules):
    kg, reference, rules = both(triples, rules)
    found = paths_both_ways(kg, hops, cap=cap, simple=simple, **switches, **rules)
    inverse, back = switches["inverse"], switches["return_to_topic"]
    sequences, _ = reference.sequences(0, hops, inverse=inverse, back=back)
    assert as_lists(found.sequences) == sequences
    check_paths(found, reference, hops, sequences, cap, simple, back)
    walks = reference.walks(0, hops, inverse, back)
    assert found.hubs.tolist() == reference.hubs_left(0, walks, hops, inverse)


@settings(max_examples=120, deadline=None)
@given(some_triples, st.data(), st.integers(1, 40), st.booleans(), st.booleans(), rules)
def test_paths_of_given_sequences(triples, data, cap, simple, back, rules):
    kg, reference, rules = both(triples, rules)
    symbols = st.integers(0, 2 * kg.num_relations - 1)
    longest = 3 if rules["mediators"] is None else 5
    lists = st.lists(st.lists(symbols, max_size=longest), max_size=6)
    sequences = data.draw(lists | lists.map(sorted))
    found = paths_both_ways(
        kg,
        3,
        Paths.from_lists(sequences),
        cap=cap,
        simple=simple,
        return_to_topic=back,
        **rules,
    )
    check_paths(found, reference, 3, sequences, cap, simple, back)
    walks = reference.walks(0, 3, True, back)
    only = [tuple(sequence) for sequence in sequences]
    assert found.hubs.tolist() == reference.hubs_left(0, walks, 3, only=only)


def paths_both_ways(kg, hops, sequences=None, **arguments):
    """Small groups of sequences are listed at once; near the limit of edges they are searched."""
    listed = kg.paths(0, hops, sequences, **arguments)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(walks, "_LIMITS", GraphLimits(10**6, 10**8, 10**6))
        searched = kg.paths(0, hops, sequences, **arguments)
    assert pickle.dumps(listed) == pickle.dumps(searched)
    return listed


def check_paths(found, reference, hops, sequences, cap, simple, back):
    kept, ends, truncated = reference.paths(0, hops, sequences, cap, simple, back)
    assert [as_lists(found.of_sequence(i)) for i in range(len(sequences))] == kept
    assert [found.ends_of(i).tolist() for i in range(len(sequences))] == ends
    assert [tuple(found.path(i).tolist()) for i in range(len(found))] == [*chain(*kept)]
    assert found.truncated == truncated
    assert not found.ends_truncated
    assert len(found) == sum(map(len, kept)) <= cap


@settings(max_examples=30, deadline=None)
@given(some_triples, st.integers(1, 30), switches, rules, st.booleans())
def test_a_batch_equals_single_calls(triples, cap, switches, rules, simple):
    kg, _, rules = both(triples, rules)
    topics = [*range(kg.num_entities), kg.entity_name(0)]
    ones = [kg.sequences(topic, 3, cap=cap, **switches, **rules) for topic in topics]
    sets = [kg.paths(topic, 3, cap=cap, simple=simple, **switches, **rules) for topic in topics]
    given = [
        kg.paths(topic, 3, one, cap=cap, simple=simple, **rules)
        for topic, one in zip(topics, ones, strict=True)
    ]
    for threads in (1, 2, 4):
        many = kg.sequences_batch(topics, 3, cap=cap, **switches, **rules, threads=threads)
        for one, other in zip(ones, many, strict=True):
            assert one == other
            assert one.truncated == other.truncated
            assert one.hubs.tolist() == other.hubs.tolist()
        many = kg.paths_batch(
            topics, 3, cap=cap, simple=simple, **switches, **rules, threads=threads
        )
        for one, other in zip(sets, many, strict=True):
            check_equal(one, other)
        many = kg.paths_batch(topics, 3, ones, cap=cap, simple=simple, **rules, threads=threads)
        for one, other in zip(given, many, strict=True):
            check_equal(one, other)


def check_equal(one, other):
    assert one.sequences == other.sequences
    for name in ("entities", "offsets", "ends", "end_offsets", "hubs"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert (one.truncated, one.ends_truncated) == (other.truncated, other.ends_truncated)


@settings(max_examples=30, deadline=None)
@given(some_triples, st.booleans(), rules)
def test_paths_follow_what_sequences_saw(triples, inverse, rules):
    kg, _, rules = both(triples, rules)
    sequences = kg.sequences(0, 3, inverse=inverse, **rules)
    found = kg.paths(0, 3, sequences, cap=10**6, **rules)
    assert np.diff(found.offsets).min(initial=1) >= 1
    assert np.diff(found.end_offsets).min(initial=1) >= 1
    assert found.hubs.tolist() == sequences.hubs.tolist()


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


def test_complete_graph_ends_at_the_cap_in_time(tmp_path):
    names = [f"e{i:03}" for i in range(300)]
    lines = [f"{a}\tr{r}\t{b}\n" for a in names for r in range(5) for b in names if a != b]
    (tmp_path / "complete.tsv").write_text("".join(lines), encoding="utf-8")
    kg = KnowledgeGraph.from_triples(tmp_path / "complete.tsv")
    begin = perf_counter()
    sequences = kg.sequences("e000", 4, cap=100)
    paths = kg.paths("e000", 4, sequences, cap=10_000)
    seconds = perf_counter() - begin
    assert sequences.truncated
    assert (len(paths), paths.truncated, paths.ends_truncated) == (10_000, True, False)
    assert seconds < 1


def hub_with_leaves(leaves):
    return KnowledgeGraph.from_triples(
        [("t", "r", "hub"), ("t", "r", "x"), ("hub", "s", "x")]
        + [("hub", "r", f"leaf{i:03}") for i in range(leaves)]
    )


def test_a_hub_is_sampled_evenly_without_losing_a_relation():
    kg = hub_with_leaves(100)
    found = kg.paths("t", 2, max_degree=10)
    assert kg.entity_names(found.hubs) == ["hub"]
    assert as_lists(found.sequences) == [(0,), (0, 0), (0, 1)]
    leaves = [f"leaf{i:03}" for i in range(0, 100, 20)]  # 10 edges for 2 relations
    assert kg.entity_names(found.ends_of(1)) == leaves
    assert kg.entity_names(found.ends_of(2)) == ["x"]
    assert not found.truncated
    assert not found.ends_truncated


def test_a_hub_may_be_skipped_but_not_the_topic():
    kg = hub_with_leaves(100)
    found = kg.sequences("t", 2, max_degree=10, hubs="skip")
    assert as_lists(found) == [(0,)]
    assert kg.entity_names(found.hubs) == ["hub"]
    assert len(kg.paths("t", 2, max_degree=10, hubs="skip")) == 2
    backward = kg.paths("leaf000", 2, inverse=True, max_degree=10, hubs="skip")
    assert as_lists(backward.sequences) == [(2,), (2, 2)]  # few edges lead into the hub
    assert kg.entity_names(backward.hubs) == ["hub"]  # many lead out of it
    assert kg.paths("leaf000", 2, [[2, 2]], max_degree=10, hubs="skip").hubs.size == 0
    assert len(kg.paths("hub", 1, max_degree=10, hubs="skip")) == 6


def test_a_limit_that_nobody_exceeds_changes_nothing():
    kg = hub_with_leaves(9)
    check_equal(kg.paths("t", 3, inverse=True), kg.paths("t", 3, inverse=True, max_degree=10))
    assert kg.sequences("t", 3, max_degree=10).hubs.size == 0


def test_mediators_join_two_steps_to_one_hop():
    kg = KnowledgeGraph.from_triples(
        [
            ("ann", "married", "m1"),
            ("m1", "spouse", "bob"),
            ("m1", "place", "rome"),
            ("bob", "born", "oslo"),
            ("m1", "see", "m2"),
            ("m2", "spouse", "cid"),
        ]
    )
    mediators = [kg.entity_id("m1"), kg.entity_id("m2")]

    def names(hops, topic="ann", **options):
        found = kg.sequences(topic, hops, mediators=mediators, **options)
        return [" ".join(kg.symbols[symbol] for symbol in sequence) for sequence in found]

    assert names(1) == ["married place", "married spouse"]
    assert names(2) == ["married place", "married spouse", "married spouse born"]
    assert names(1, "bob", inverse=True, return_to_topic=False) == [
        "born",
        "^spouse place",
        "^spouse ^married",
    ]
    assert names(1, "m1") == ["place", "spouse", "see spouse"]
    found = kg.paths("ann", 1, mediators=mediators)
    assert [kg.entity_names(found.path(i)) for i in range(2)] == [
        ["ann", "m1", "rome"],
        ["ann", "m1", "bob"],
    ]
    mask = np.zeros(kg.num_entities, bool)
    mask[mediators] = True
    check_equal(found, kg.paths("ann", 1, mediators=mask))


def test_results_pickle_with_their_hubs():
    found = hub_with_leaves(20).sequences("t", 2, max_degree=10)
    copy = pickle.loads(pickle.dumps(found))
    assert isinstance(copy, Sequences)
    assert copy == found
    assert copy.hubs.tolist() == found.hubs.tolist() != []


@pytest.mark.parametrize("rules", [no_rules, {"max_degree": 2}, {"mediators": [1]}])
def test_ids_of_a_damaged_store_are_not_followed(tmp_path, rules):
    kg = KnowledgeGraph.from_triples([(f"a{i}", "r", f"a{j}") for i in range(5) for j in range(5)])
    kg.save(tmp_path / "graph")
    for name, sound in (("out_tails", 0), ("out_relations", 0), ("out_offsets", 5)):
        file = next((tmp_path / "graph").glob(f"{name}*.npy"))
        whole = file.read_bytes()
        for value in (-1, 10**6):
            array = np.load(file)
            array[sound] = value
            file.write_bytes(whole[: len(whole) - array.nbytes] + array.tobytes())
            damaged = KnowledgeGraph.open(tmp_path / "graph")
            with pytest.raises(DamagedStore, match="the graph is damaged"):
                damaged.sequences_batch(range(5), 3, **rules, threads=2)
        file.write_bytes(whole)
    sound = KnowledgeGraph.open(tmp_path / "graph")
    sequences = kg.sequences_batch(range(5), 3, **rules)
    assert sound.sequences_batch(range(5), 3, **rules) == sequences
    file = next((tmp_path / "graph").glob("out_tails*.npy"))
    array = np.load(file)
    array[0] = 5
    file.write_bytes(file.read_bytes()[: -array.nbytes] + array.tobytes())
    with pytest.raises(DamagedStore, match="the graph is damaged"):
        KnowledgeGraph.open(tmp_path / "graph").paths_batch(range(5), 3, sequences, **rules)


def test_empty_batches():
    kg = KnowledgeGraph.from_triples([("a", "r", "b")])
    assert kg.sequences_batch([], 3) == []
    assert kg.paths_batch([], 3) == []
    assert kg.paths_batch([], 3, []) == []


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
        (
            lambda kg: kg.paths("a", 1, [[0, 0, 0]], mediators=[1]),
            ValueError,
            "at most twice max_hops = 1 symbols, got 3",
        ),
        (lambda kg: kg.paths_batch(["a"], 1, []), ValueError, "1 topics, but 0 lists"),
        (lambda kg: kg.sequences("a", 1, max_degree=0), ValueError, "max_degree must be at least"),
        (
            lambda kg: kg.sequences("a", 1, hubs="drop"),
            ValueError,
            "hubs must be 'sample' or 'skip'",
        ),
        (lambda kg: kg.paths("a", 1, mediators=[2]), ValueError, "must be ids from 0 to 1, got 2"),
        (
            lambda kg: kg.paths("a", 1, mediators=[True]),
            ValueError,
            "one bool an entity id, 2, got",
        ),
        (lambda kg: kg.paths("a", 1, mediators=["b"]), TypeError, "mediators must be a 1-D array"),
        (
            lambda kg: kg.sequences_batch(["a"], 1, threads=0),
            ValueError,
            "threads must be at least",
        ),
        (lambda kg: kg.sequences_batch(["a", "c"], 1), UnknownEntity, "no entity named 'c'"),
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


def test_topics_of_a_batch_are_several():
    kg = KnowledgeGraph.from_triples([("hub", "r", "x")])
    for topics in ("hub", 3):
        with pytest.raises(TypeError, match="topics must be an iterable of names or ids"):
            kg.sequences_batch(topics, 1)
        with pytest.raises(TypeError, match="topics must be an iterable of names or ids"):
            kg.paths_batch(topics, 1)
