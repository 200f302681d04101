"""What no benchmark asks: unknown topics, other scripts, no words, ten thousand, and huge hubs."""

import resource
import time
from contextlib import contextmanager

import numpy as np
import pytest

from hyperhop.graph import KnowledgeGraph, UnknownEntity
from hyperhop.pathhd import Example, MemoryPlanner, MixturePlanner, PathHD, Plans, TopicNotFound
from hyperhop.pathhd.planners import get_planner
from hyperhop.text import HashingEncoder

FACTS = [
    ("Peru", "capital", "Lima"),
    ("Peru", "border", "Chile"),
    ("Chile", "capital", "Santiago"),
    ("北京", "国家", "中国"),
    ("中国", "首都", "北京"),
    ("مصر", "عاصمة", "القاهرة"),
    ("😀", "mood", "🎉"),
]


@contextmanager
def bounded(seconds, megabytes):
    """Fails if the block takes longer, or lets the process grow further than ever by more."""
    start, before = time.perf_counter(), peak()
    yield
    assert time.perf_counter() - start < seconds
    assert peak() - before < megabytes


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3


KG = KnowledgeGraph.from_triples(FACTS)
EXAMPLES = [
    Example("What is the capital of Peru?", (23, 27), ("capital",)),
    Example("Which country borders Peru?", (22, 26), ("border",)),
]


def planners(kg):
    encoder = HashingEncoder()
    made = {name: get_planner(name, kg.symbols, encoder) for name in ("lexical", "embedding")}
    made["memory"] = MemoryPlanner(encoder, EXAMPLES)
    made["mixture"] = MixturePlanner([(made["embedding"], 1.0), (made["memory"], 2.0)])
    return made


OPTIONS = {"max_hops": 2, "k": 30}
SYSTEMS = {name: PathHD(KG, planner=made, **OPTIONS) for name, made in planners(KG).items()}
every_planner = pytest.mark.parametrize("system", SYSTEMS.values(), ids=SYSTEMS)


@every_planner
def test_unknown_topics_are_named(system):
    with pytest.raises(UnknownEntity, match="Perü"):
        system.retrieve("What is the capital of Perü?", "Perü")
    with pytest.raises(IndexError, match="999"):
        system.retrieve("What is the capital of it?", 999)
    for question in ("What is the capital of Atlantis?", "", " \t\n", "???"):
        with pytest.raises(TopicNotFound, match="names no entity of the graph; give one"):
            system.retrieve(question)


@every_planner
@pytest.mark.parametrize(
    ("question", "topic", "relation", "end"),
    [
        ("北京 在哪个 国家", "北京", "国家", "中国"),
        ("ما هي عاصمة مصر", "مصر", "عاصمة", "القاهرة"),
        ("mood 😀?", "😀", "mood", "🎉"),
        ("", "Peru", None, None),
        (" \u200b\u3000 ", "Peru", None, None),
        ("?!…", "Peru", None, None),
        ("\ud800 capital", "Peru", None, None),
    ],
)
def test_any_text_gives_all_candidates(system, question, topic, relation, end):
    evidence = system.retrieve(question, topic)
    assert evidence.topic == topic
    assert evidence.sequences
    assert not evidence.truncated
    ends = {tuple(one.relations): list(one.ends) for one in evidence.sequences}
    assert len(ends) < system.k  # so these are all there are
    if relation is not None:
        assert ends[(relation,)] == [end]
    assert system.answer(question, topic).entities == list(evidence.sequences[0].ends)
    # the same again, and in a batch
    again = system.retrieve_batch([question], [topic])[0]
    assert again.sequences == evidence.sequences
    assert again.paths == evidence.paths


@pytest.mark.parametrize("script", ["北京 在哪个 国家", "ما هي عاصمة مصر", "Peru capital 😀"])
def test_topics_are_found_in_any_script(script):
    assert SYSTEMS["lexical"].retrieve(script).topic in ("北京", "مصر", "Peru")


@every_planner
def test_ten_thousand_words_take_bounded_time_and_memory(system):
    rng = np.random.default_rng(0)
    letters = np.array(list("abcdefghij"))
    words = ["".join(word) for word in rng.choice(letters, (10_000, 6))]
    question = f"what is the capital of Peru {' '.join(words)} and the border?"
    with bounded(seconds=20, megabytes=300):
        evidence = system.retrieve(question, "Peru")
    assert evidence.sequences


@pytest.mark.parametrize("mark", ["?", "'", "_ ", "Peru's "])
def test_a_topic_is_found_behind_a_hundred_thousand_marks(mark):
    with bounded(seconds=10, megabytes=300):  # 20 where each of them looks at all that follow
        evidence = SYSTEMS["lexical"].retrieve(mark * (100_000 // len(mark)) + " capital of Peru")
    assert evidence.topic == "Peru"


@pytest.fixture(scope="module")
def hub():
    """One entity with 100,000 edges, half of them of one relation."""
    facts = [("hub", "contains", f"part {i}") for i in range(50_000)]
    facts += [(f"user {i}", f"uses {i % 40}", "hub") for i in range(50_000)]
    facts += [(f"part {i}", "made of", f"stuff {i % 7}") for i in range(0, 50_000, 5)]
    return KnowledgeGraph.from_triples(facts)


def test_a_topic_with_a_hundred_thousand_edges(hub):
    system = PathHD(hub, max_hops=3)
    with bounded(seconds=10, megabytes=300):
        evidence = system.retrieve("What are the parts that hub contains made of?", "hub")
    ends = {tuple(one.relations): one.ends for one in evidence.sequences}
    assert ends["contains", "made of"] == [f"stuff {i}" for i in range(7)]
    assert evidence.truncated  # 10,000 paths lead there, a thousand are shown
    assert len(evidence.paths) == 1_000
    assert {tuple(p.relations) for p in evidence.paths} == set(ends)  # each keeps one at least


def test_what_is_cut_is_said_to_be(hub):
    whole = PathHD(hub, max_hops=1, path_cap=100_000).retrieve("What contains hub?", "hub")
    assert not whole.truncated
    few = PathHD(hub, max_hops=2, cap=5).retrieve("What contains hub?", "hub")
    assert few.truncated
    assert len(few.sequences) == 3
    sampled = PathHD(hub, max_hops=1, max_degree=100, path_cap=100_000)
    evidence = sampled.retrieve("What does hub contain?", "hub")
    assert evidence.hubs == ["hub"]
    assert not evidence.truncated


class First:
    """Takes the first candidate."""

    name = "first"

    def plan(self, question, mention, candidates):
        return Plans(np.array([0]), np.array([1.0]))


def test_twenty_thousand_relations_take_no_gigabyte():
    facts = [(f"e{i % 50}", f"relation {i}", f"e{i % 49}") for i in range(20_000)]
    kg = KnowledgeGraph.from_triples(facts)
    with bounded(seconds=10, megabytes=300):  # all rows are 1,300
        evidence = PathHD(kg, planner=First(), max_hops=1).retrieve("?", "e17")
    assert evidence.sequences[0].score == pytest.approx(1, abs=1e-5)
