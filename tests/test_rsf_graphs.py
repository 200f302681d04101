"""From a knowledge graph to flow graphs: symbols, balls, texts, questions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph
from hyperhop.graph import UnknownEntity
from hyperhop.rsf.graphs import STAY, STAY_TEXT, FlowRelations, balls, whole_graph
from hyperhop.rsf.text import (
    QuestionVectors,
    asked,
    encode_entities,
    question_vectors,
    text_tables,
)
from hyperhop.text import HashingEncoder, Verbalizer

FACTS = [
    ("Ann", "mother", "Bea"),
    ("Ann", "friend", "Bea"),
    ("Bea", "born_in", "Rome"),
    ("Cid", "born_in", "Rome"),
    ("Rome", "part of", "Rome"),
    ("Dan", "friend", "Cid"),
]


@pytest.fixture
def kg():
    return KnowledgeGraph.from_triples(FACTS)


def edges(graph):
    return sorted(zip(graph.src.tolist(), graph.relation.tolist(), graph.dst.tolist(), strict=True))


def test_symbols_are_those_of_the_graph_and_stay(kg):
    relations = FlowRelations(kg)
    count = kg.num_relation_ids
    assert relations.names == [*kg.symbols, STAY]
    assert relations.num_symbols == 2 * count + 1
    assert relations.stay_id == 2 * count
    texts = relations.texts()
    assert texts[kg.relation_id("born_in")] == "born in"
    assert texts[count + kg.relation_id("born_in")] == "born in of"
    assert texts[-1] == STAY_TEXT
    labelled = relations.texts(Verbalizer(relation_labels={"born_in": "birthplace"}))
    assert labelled[kg.relation_id("born_in")] == "birthplace"


def test_no_relation_is_called_like_stay():
    names = [STAY, "STAY", "\\\\STAY", "^STAY"]
    kg = KnowledgeGraph.from_triples(("a", name, "b") for name in names)
    assert len(set(FlowRelations(kg).names)) == 2 * len(names) + 1


def test_the_whole_graph_has_every_fact_both_ways_and_a_stay_everywhere(kg):
    graph = whole_graph(kg, FlowRelations(kg))
    heads, symbols, tails = kg.triple_ids()
    count, stay = kg.num_relation_ids, 2 * kg.num_relation_ids
    along = list(zip(heads.tolist(), symbols.tolist(), tails.tolist(), strict=True))
    against = [(t, r + count, h) for h, r, t in along]
    stays = [(v, stay, v) for v in range(kg.num_entities)]
    assert edges(graph) == sorted(along + against + stays)
    assert graph.num_relations == stay + 1
    plain = whole_graph(kg, FlowRelations(kg, inverse=False, stay=False))
    assert edges(plain) == sorted(along)
    assert plain.num_relations == stay + 1  # ids do not depend on the switches


def test_a_ball_is_the_graph_around_its_topics(kg):
    relations = FlowRelations(kg)
    (ball,) = balls(kg, relations, ["Ann"], 1)
    assert kg.entity_names(ball.entities.tolist()) == ["Ann", "Bea"]
    assert ball.topics.tolist() == [0]
    assert not ball.truncated
    assert len(ball.hubs) == 0
    assert ball.graph.num_edges == 2 * 2 + 2  # two parallel facts both ways, two stays
    wanted = [kg.entity_id(name) for name in ("Rome", "Bea", "Ann")]
    assert ball.nodes_of(wanted).tolist() == [1, 0]
    assert ball.nodes_of([]).tolist() == []
    assert ball.nodes_of([10**6]).tolist() == []


def test_radius_is_no_number_of_hops_and_without_inverses_balls_grow_ahead(kg):
    sizes = [len(balls(kg, FlowRelations(kg), ["Ann"], r)[0].entities) for r in range(5)]
    assert sizes == [1, 2, 3, 4, 5]
    (ahead,) = balls(kg, FlowRelations(kg, inverse=False), ["Ann"], 4)
    assert kg.entity_names(ahead.entities) == ["Ann", "Bea", "Rome"]


def test_several_topics_make_one_ball(kg):
    (ball,) = balls(kg, FlowRelations(kg), [["Dan", "Ann", "Dan"]], 0)
    assert kg.entity_names(ball.entities.tolist()) == ["Ann", "Dan"]
    assert ball.topics.tolist() == [0, 1]


def test_unknown_topics_and_bad_radius_are_told(kg):
    with pytest.raises(UnknownEntity, match="Anna"):
        balls(kg, FlowRelations(kg), ["Anna"], 2)
    with pytest.raises(ValueError, match="hops must be at least 0"):
        balls(kg, FlowRelations(kg), ["Ann"], -1)


def test_a_hub_is_bounded_and_says_so():
    kg = KnowledgeGraph.from_triples(("hub", "knows", f"e{i:05}") for i in range(100_000))
    relations = FlowRelations(kg)
    (whole,) = balls(kg, relations, ["hub"], 2)
    assert len(whole.entities) == 100_001
    assert not whole.truncated
    (cut,) = balls(kg, relations, ["hub"], 2, max_edges=1_000)
    assert cut.truncated
    assert len(cut.entities) <= 1_001
    (sampled,) = balls(kg, relations, ["hub"], 2, max_degree=100)
    assert kg.entity_names(sampled.hubs) == ["hub"]
    assert len(sampled.entities) == 101


@given(st.data())
def test_a_ball_holds_the_edges_of_the_whole_graph_between_its_entities(data):
    names = [f"v{i}" for i in range(6)]
    facts = data.draw(
        st.lists(
            st.tuples(st.sampled_from(names), st.sampled_from("rs"), st.sampled_from(names)),
            min_size=1,
            max_size=14,
        )
    )
    kg = KnowledgeGraph.from_triples(facts)
    relations = FlowRelations(kg, stay=data.draw(st.booleans()))
    topic = data.draw(st.sampled_from([head for head, _, _ in facts]))
    (ball,) = balls(kg, relations, [topic], data.draw(st.integers(0, 3)))
    inside = set(ball.entities.tolist())
    entity = ball.entities.tolist()
    found = sorted((entity[s], r, entity[d]) for s, r, d in edges(ball.graph))
    whole = edges(whole_graph(kg, relations))
    assert found == [e for e in whole if e[0] in inside and e[2] in inside]


def test_balls_are_the_same_for_any_threads(kg):
    relations = FlowRelations(kg)
    topics = ["Ann", "Rome", "Dan"] * 5
    alone = [balls(kg, relations, [topic], 2)[0] for topic in topics]
    for threads in (1, 3):
        for ball, expected in zip(
            balls(kg, relations, topics, 2, threads=threads), alone, strict=True
        ):
            assert np.array_equal(ball.entities, expected.entities)
            assert edges(ball.graph) == edges(expected.graph)


def test_tables_follow_ids_and_leave_out_what_says_nothing():
    kg = KnowledgeGraph.from_triples([("m.0abc12", "born_in", "New_York"), ("Ann", "x", "Bo")])
    kg = kg.without([("Ann", "x", "Bo")])  # two retired ids
    encoder = HashingEncoder(64)
    tables = text_tables(kg, FlowRelations(kg), encoder)
    assert tables.entities.shape == (kg.num_entity_ids, 64)
    assert tables.relations.shape == (2 * kg.num_relation_ids + 1, 64)
    assert tables.dim == 64
    known = kg.entity_id("New_York")
    assert np.array_equal(tables.entities[known], encoder.encode(["New York"])[0])
    others = np.delete(tables.entities, known, axis=0)
    assert not others.any()  # an id without words, and retired names
    assert text_tables(kg, FlowRelations(kg), encoder, entities=False).entities is None
    labelled = encode_entities(kg, encoder, Verbalizer(labels={"m.0abc12": "Eve"}))
    assert np.array_equal(labelled[kg.entity_id("m.0abc12")], encoder.encode(["Eve"])[0])


@pytest.mark.parametrize(
    ("question", "topics", "mention", "expected"),
    [
        ("who is Ann 's mother", ["Ann"], "hidden", "who is it 's mother"),
        ("who is Ann 's mother", ["Ann"], "kept", "who is Ann 's mother"),
        ("born where was new_york", ["New York"], "hidden", "born where was it"),
        ("the place_of_birth of Ann", ["Bo"], "hidden", "the place of birth of Ann"),
        ("do Ann and Bo meet", ["Ann", "Bo"], "hidden", "do it and it meet"),
        ("Anna knows Ann", ["Ann"], "hidden", "Anna knows it"),
        ("", ["Ann"], "hidden", ""),
        ("母は誰 東京", ["東京"], "hidden", "母は誰 it"),
    ],
)
def test_what_is_asked(question, topics, mention, expected):
    assert asked(question, topics, mention) == expected


class Words:
    """One row a word, so that token states can be told apart."""

    name, dim = "words", 3

    def encode(self, texts):
        return np.array([[len(text), 0, 1] for text in texts], np.float32).reshape(-1, 3)

    def encode_tokens(self, texts):
        words = [text.split() for text in texts]
        states = [[len(word), len(text), 0] for text in words for word in text]
        offsets = np.cumsum([0, *map(len, words)])
        return np.array(states, np.float32).reshape(-1, 3), offsets.astype(np.int64)


def test_question_vectors_are_taken_by_place():
    texts = ["a bb ccc", "", "dddd"]
    vectors = question_vectors(Words(), texts, tokens=True)
    assert len(vectors) == 3
    assert vectors.offsets.tolist() == [0, 3, 3, 4]
    taken = vectors.take([2, 0, 1, 2])
    alone = question_vectors(Words(), [texts[i] for i in (2, 0, 1, 2)], tokens=True)
    assert np.array_equal(taken.pooled, alone.pooled)
    assert np.array_equal(taken.states, alone.states)
    assert taken.offsets.tolist() == alone.offsets.tolist()
    assert taken.take([]).states.shape == (0, 3)
    pooled = question_vectors(Words(), texts)
    assert pooled.states is None
    assert isinstance(pooled.take([1]), QuestionVectors)
    with pytest.raises(ValueError, match="'hashing' has no token states"):
        question_vectors(HashingEncoder(), texts, tokens=True)
