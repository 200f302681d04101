"""Balls, neighbours and degrees against the plain-Python reference, and their bounds."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph
from hyperhop.graph import DamagedStore, Subgraph, UnknownEntity, UnknownRelation
from reference_graph import ReferenceGraph
from strategies_graph import some_triples

directions = st.sampled_from(["out", "in", "both"])
ids = st.lists(st.integers(0, 20), max_size=4)
FIELDS = ("entities", "hops", "heads", "relations", "tails", "topics", "hubs")


def equal(a, b):
    return a.truncated == b.truncated and all(
        np.array_equal(getattr(a, name), getattr(b, name)) for name in FIELDS
    )


def facts(kg, ball):
    """The ball's edges as ids of the graph."""
    heads, tails = ball.entities[ball.heads], ball.entities[ball.tails]
    return list(zip(heads.tolist(), ball.relations.tolist(), tails.tolist(), strict=True))


def random_graph(entities, relations, edges, seed=0):
    """A few entities have most of the edges."""
    rng = np.random.default_rng(seed)
    ends = (entities * rng.random((edges, 2)) ** 3).astype(int)
    rows = np.column_stack([ends[:, 0], rng.integers(0, relations, edges), ends[:, 1]])
    return KnowledgeGraph.from_triples((f"e{h:05}", f"r{r:02}", f"e{t:05}") for h, r, t in rows)


@settings(max_examples=150)
@given(
    some_triples,
    ids,
    st.integers(0, 4),
    directions,
    st.booleans(),
    st.none() | st.integers(1, 4),
    st.sampled_from(["sample", "skip"]),
    ids,
    st.booleans(),
)
def test_balls_equal_the_reference(
    triples, topics, hops, direction, induced, max_degree, hubs, mediators, as_mask
):
    kg, reference = KnowledgeGraph.from_triples(triples), ReferenceGraph(triples)
    topics = [topic % kg.num_entities for topic in topics]
    mediators = [mediator % kg.num_entities for mediator in mediators]
    given_mediators = np.isin(np.arange(kg.num_entities), mediators) if as_mask else mediators
    ball = kg.subgraph(
        topics,
        hops,
        direction,
        induced,
        max_degree=max_degree,
        hubs=hubs,
        mediators=given_mediators,
    )
    found, edges, hub_ids = reference.ball(
        topics, hops, direction, induced, max_degree, hubs == "skip", mediators
    )
    assert ball.entities.tolist() == list(found)
    assert ball.hops.tolist() == list(found.values()) == sorted(found.values())
    assert ball.entities[ball.topics].tolist() == topics
    assert facts(kg, ball) == edges
    assert ball.hubs.tolist() == sorted(hub_ids)
    assert not ball.truncated
    assert (ball.num_entities, ball.num_edges) == (len(found), len(edges))
    for name in FIELDS:
        assert getattr(ball, name).dtype == np.int32


@pytest.mark.parametrize("induced", [True, False])
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_large_balls_equal_the_reference(direction, induced):
    """Rows, layers and tables long enough for every path of the code."""
    kg = random_graph(900, 3, 2_500)
    triples = list(kg.triples())
    reference = ReferenceGraph(triples)
    for options in ({}, {"max_degree": 30}, {"max_degree": 30, "hubs": "skip"}):
        ball = kg.subgraph([5, 700], 3, direction, induced, mediators=range(100, 200), **options)
        found, edges, hubs = reference.ball(
            [5, 700],
            3,
            direction,
            induced,
            options.get("max_degree"),
            "hubs" in options,
            range(100, 200),
        )
        assert ball.entities.tolist() == list(found)
        assert ball.hops.tolist() == list(found.values())
        assert len(found) > (300 if not options else 20)
        assert facts(kg, ball) == edges
        assert ball.hubs.tolist() == sorted(hubs)


def test_triangle_has_two_edges_within_a_hop_and_three_induced():
    kg = KnowledgeGraph.from_triples([("0", "r", "1"), ("1", "r", "2"), ("2", "r", "0")])
    within = kg.subgraph("0", 1, induced=False)
    assert facts(kg, within) == [(0, 0, 1), (2, 0, 0)]
    assert kg.subgraph("0", 1).num_edges == 3
    assert kg.subgraph("0", 1, "out").entities.tolist() == [0, 1]
    assert kg.subgraph("0", 1, "in").entities.tolist() == [0, 2]
    assert repr(within) == "Subgraph(3 entities, 2 edges)"


def test_parallel_edges_loops_and_lone_topics():
    kg = KnowledgeGraph.from_triples(
        [("a", "r", "b"), ("a", "s", "b"), ("b", "r", "b"), ("x", "r", "y")]
    )
    assert facts(kg, kg.subgraph("a", 1)) == [(0, 0, 1), (0, 1, 1), (1, 0, 1)]
    assert facts(kg, kg.subgraph("b", 1, induced=False)) == [(1, 0, 1), (0, 0, 1), (0, 1, 1)]
    alone = kg.subgraph("b", 0)
    assert alone.entities.tolist() == [1]
    assert facts(kg, alone) == [(1, 0, 1)]
    assert kg.subgraph("b", 0, induced=False).num_edges == 0
    assert kg.subgraph("y", 5, "out").entities.tolist() == [kg.entity_id("y")]
    nothing = kg.subgraph([], 3)
    assert (nothing.num_entities, nothing.num_edges) == (0, 0)


def test_several_topics_may_repeat():
    kg = random_graph(300, 3, 600)
    ball = kg.subgraph([200, 7, kg.entity_name(200)], 1)
    assert ball.entities[ball.topics].tolist() == [200, 7, 200]
    assert ball.topics.tolist() == [0, 1, 0]
    again = kg.subgraph(np.array([200, 7]), 1)
    assert again.entities.tolist() == ball.entities.tolist()


def test_no_graph_at_all():
    kg = KnowledgeGraph.from_triples([])
    assert kg.subgraph([], 2).num_entities == 0
    assert kg.subgraph([], 2, mediators=np.zeros(0, bool)).num_entities == 0
    assert kg.subgraph_batch([], 2) == []
    assert kg.degrees().shape == (0,)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_batch_gives_the_same_bits(threads):
    kg = random_graph(2_000, 5, 6_000)
    topics = [[3], [], [1_500], [7, 1_900], 40, "e00001"] * 5
    for options in ({}, {"induced": False, "max_degree": 20, "mediators": [0, 5]}):
        balls = kg.subgraph_batch(topics, 2, **options, threads=threads)
        assert len(balls) == len(topics)
        for topic, ball in zip(topics, balls, strict=True):
            assert equal(ball, kg.subgraph(topic, 2, **options))


def test_a_mediator_costs_one_hop_in_all():
    """Film -> performance -> actor, role; the performance is a node of its own."""
    kg = KnowledgeGraph.from_triples(
        [
            ("film", "cast", "_:1"),
            ("_:1", "actor", "Ann"),
            ("_:1", "role", "spy"),
            ("_:1", "note", "_:2"),
            ("_:2", "text", "uncredited"),
            ("Ann", "born", "Rome"),
        ]
    )
    blank = [kg.entity_id("_:1"), kg.entity_id("_:2")]

    def hops(count, mediators, topic="film"):
        ball = kg.subgraph(topic, count, "out", mediators=mediators)
        names = kg.entity_names(ball.entities.tolist())
        return dict(zip(names, ball.hops.tolist(), strict=True))

    assert hops(1, None) == {"film": 0, "_:1": 1}
    assert hops(1, blank) == {"film": 0, "_:1": 1, "Ann": 1, "spy": 1}
    assert hops(2, blank) == {**hops(1, blank), "_:2": 2, "uncredited": 2, "Rome": 2}
    assert hops(1, blank, "_:1") == {"_:1": 0, "Ann": 1, "spy": 1, "_:2": 1, "uncredited": 1}
    within = kg.subgraph("film", 1, "out", induced=False, mediators=blank)
    assert within.num_edges == 3


def test_bounds_cut_and_say_so():
    kg = random_graph(2_000, 5, 20_000)
    full = {induced: kg.subgraph(5, 3, induced=induced) for induced in (True, False)}
    hop = dict(zip(full[True].entities.tolist(), full[True].hops.tolist(), strict=True))
    for induced in (True, False):
        edges = set(facts(kg, full[induced]))
        for most in (1, 10, 500, 5_000, len(edges) - 1):
            ball = kg.subgraph(5, 3, induced=induced, max_edges=most)
            assert ball.truncated
            assert 0 < ball.num_edges <= most
            assert set(facts(kg, ball)) < edges
            assert all(hop[e] == h for e, h in zip(ball.entities, ball.hops, strict=True))
            assert equal(ball, kg.subgraph(5, 3, induced=induced, max_edges=most))
            assert "truncated" in repr(ball)
    degree_sum = 2 * kg.num_triples
    assert equal(full[True], kg.subgraph(5, 3, max_edges=degree_sum))


def test_edges_looked_at_are_bounded(monkeypatch):
    from hyperhop.graph import subgraph

    kg = random_graph(500, 3, 3_000)
    monkeypatch.setattr(subgraph, "_EDGE_VISITS", 1_000)
    for options in ({}, {"induced": False}, {"induced": False, "direction": "in"}):
        assert kg.subgraph(0, 4, **options).truncated
    assert not kg.subgraph(400, 0).truncated


def test_a_hub_does_not_flood_the_ball():
    spokes = [("hub", f"r{i % 4}", f"s{i:04}") for i in range(4_000)]
    kg = KnowledgeGraph.from_triples([*spokes, ("a", "in", "hub"), ("s0001", "near", "s0002")])
    hub = kg.entity_id("hub")
    assert kg.subgraph("a", 2).num_entities == 4_002
    sampled = kg.subgraph("a", 2, max_degree=40)
    assert sampled.num_entities == 42
    assert sampled.hubs.tolist() == [hub]
    assert np.bincount(sampled.relations[1:]).tolist()[-4:] == [10, 10, 10, 10]
    skipped = kg.subgraph("a", 2, max_degree=40, hubs="skip")
    assert kg.entity_names(skipped.entities.tolist()) == ["a", "hub"]
    assert skipped.hubs.tolist() == [hub]
    assert not skipped.truncated
    # A topic is sampled, and both ends of s0001 -> s0002 may be found from elsewhere.
    assert kg.subgraph("hub", 1, max_degree=40, hubs="skip").num_entities == 42
    both = kg.subgraph(["s0001", "s0002", "hub"], 0, max_degree=40, hubs="skip")
    assert both.num_edges == 3


def test_neighbors_and_degrees():
    kg = random_graph(50, 4, 400)
    triples = [tuple(map(kg.entity_id, (h, t))) for h, _, t in kg.triples()]
    relations = [kg.relation_id(r) for _, r, _ in kg.triples()]
    for entity in range(kg.num_entities):
        name = kg.entity_name(entity)
        out = [(r, t) for (h, t), r in zip(triples, relations, strict=True) if h == entity]
        back = [(r, h) for (h, t), r in zip(triples, relations, strict=True) if t == entity]
        for direction, expected in (("out", out), ("in", back)):
            found = kg.neighbors(name, direction)
            assert list(zip(*map(np.ndarray.tolist, found), strict=True)) == sorted(expected)
            assert [array.dtype for array in found] == [np.int32] * 2
            assert kg.degree(entity, direction) == len(expected)
            assert kg.degrees(direction)[entity] == len(expected)
            of_one = kg.neighbors(entity, direction, "r02")
            assert of_one[1].tolist() == sorted(e for r, e in expected if r == 2)
            assert set(of_one[0].tolist()) <= {2}
        assert kg.degree(entity) == kg.degrees()[entity] == len(out) + len(back)
    assert kg.degrees().dtype == np.int64
    found[0][:] = 0  # a copy: the graph is not changed
    assert kg.degree(0, "out") == len(kg.neighbors(0)[0])


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda kg: kg.subgraph("nobody", 1), UnknownEntity, "no entity named 'nobody'"),
        (lambda kg: kg.subgraph(3, 1), IndexError, "subgraph: topic must be an id below 3, got 3"),
        (lambda kg: kg.subgraph([0, -1], 1), IndexError, "topic must be an id below 3, got -1"),
        (lambda kg: kg.subgraph(1.5, 1), TypeError, "subgraph: topic must be an integer, got flo"),
        (lambda kg: kg.subgraph(0, -1), ValueError, "subgraph: hops must be at least 0, got -1"),
        (lambda kg: kg.subgraph(0, 1, "up"), ValueError, "direction must be 'out', 'in' or 'both'"),
        (lambda kg: kg.subgraph(0, 1, hubs="x"), ValueError, "hubs must be 'sample' or 'skip'"),
        (lambda kg: kg.subgraph(0, 1, max_degree=0), ValueError, "max_degree must be at least 1"),
        (lambda kg: kg.subgraph(0, 1, max_edges=0), ValueError, "max_edges must be at least 1"),
        (lambda kg: kg.subgraph(0, 1, mediators=[3]), ValueError, "must be ids from 0 to 2, got 3"),
        (
            lambda kg: kg.subgraph(0, 1, mediators=np.zeros(2, bool)),
            ValueError,
            "subgraph: mediators must hold one bool an entity id, 3, got 2",
        ),
        (lambda kg: kg.subgraph(0, 1, mediators=[0.5]), TypeError, "a 1-D array of entity ids"),
        (lambda kg: kg.subgraph_batch("ab", 1), TypeError, "must be an iterable of topics, got s"),
        (lambda kg: kg.subgraph_batch([0], 1, threads=0), ValueError, "threads must be at least 1"),
        (lambda kg: kg.subgraph_batch([9], 1), IndexError, "subgraph_batch: topic must be an id"),
        (lambda kg: kg.neighbors(0, "both"), ValueError, "direction must be 'out' or 'in'"),
        (lambda kg: kg.neighbors(3), IndexError, "neighbors: entity must be an id below 3, got 3"),
        (lambda kg: kg.neighbors(0, "out", 1), IndexError, "relation must be an id below 1, got 1"),
        (lambda kg: kg.neighbors(0, "out", "q"), UnknownRelation, "no relation named 'q'"),
        (lambda kg: kg.degree(0, ""), ValueError, "degree: direction must be"),
        (lambda kg: kg.degrees("up"), ValueError, "degrees: direction must be"),
    ],
)
def test_bad_arguments_are_named(call, error, message):
    kg = KnowledgeGraph.from_triples([("a", "r", "b"), ("b", "r", "c")])
    with pytest.raises(error, match=message):
        call(kg)


def use(kg):
    for options in (
        {},
        {"direction": "in", "induced": False},
        {"induced": False, "max_degree": 2},
        {"max_degree": 1, "mediators": [0, 1]},
        {"max_degree": 2, "hubs": "skip"},
    ):
        kg.subgraph_batch(range(kg.num_entities), 3, **options, threads=1)
    for entity in range(kg.num_entities):
        for direction in ("out", "in"):
            kg.neighbors(entity, direction)
            kg.neighbors(entity, direction, 0)
        kg.degree(entity)
    kg.degrees()


@pytest.mark.parametrize("name", ["out_offsets", "out_tails", "out_relations", "in_heads"])
def test_damage_never_crashes(name):
    kg = random_graph(12, 3, 30)
    rng = np.random.default_rng(0)
    found = 0
    for value in (-1, 2**31 - 1, 7, -(2**31)):
        for _ in range(25):
            arrays = {key: array.copy() for key, array in kg._arrays.items()}
            arrays[name][rng.integers(len(arrays[name]))] = value
            try:
                use(KnowledgeGraph(arrays))
            except DamagedStore:
                found += 1
    assert found > 50


def test_a_search_after_a_damaged_one_is_right():
    kg = random_graph(300, 3, 900)
    expected = kg.subgraph(0, 3)
    arrays = {key: array.copy() for key, array in kg._arrays.items()}
    arrays["out_tails"][-1] = -5
    with pytest.raises(DamagedStore):
        KnowledgeGraph(arrays).subgraph(range(kg.num_entities), 2)
    assert equal(kg.subgraph(0, 3), expected)


def test_numbers_stay_apart_when_tables_grow():
    """A path graph: ids in an order that is not that of the hops."""
    order = np.random.default_rng(0).permutation(20_000)
    kg = KnowledgeGraph.from_triples((f"{a:05}", "r", f"{b:05}") for a, b in pairwise(order))
    ball = kg.subgraph(f"{order[0]:05}", 12_000, "out")
    assert isinstance(ball, Subgraph)
    assert ball.entities.tolist() == order[:12_001].tolist()
    star = KnowledgeGraph.from_triples(("hub", "r", f"{i:05}") for i in range(20_000))
    ball = star.subgraph("hub", 1)
    assert ball.entities[1:].tolist() == list(range(20_000))
    assert ball.tails.tolist() == list(range(1, 20_001))
