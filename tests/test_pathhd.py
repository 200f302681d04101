"""PathHD from question to answer on small graphs."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.evidence import Retriever
from hyperhop.graph import KnowledgeGraph, UnknownEntity
from hyperhop.pathhd import Calibration, Frequencies, PathHD, Plans, TopicNotFound
from hyperhop.pathhd.expand import check_paths
from hyperhop.text import HashingEncoder, Verbalizer

FACTS = [
    ("Peru", "capital", "Lima"),
    ("Peru", "currency", "sol"),
    ("Peru", "language", "Spanish"),
    ("Peru", "language", "Quechua"),
    ("Peru", "border", "Chile"),
    ("Peru", "border", "Brazil"),
    ("Chile", "capital", "Santiago"),
    ("Chile", "currency", "peso"),
    ("Chile", "language", "Spanish"),
    ("Chile", "border", "Peru"),
    ("Brazil", "capital", "Brasília"),
    ("Brazil", "currency", "real"),
    ("Brazil", "language", "Portuguese"),
    ("Brazil", "border", "Peru"),
]
QUESTIONS = [
    "Which currency is used in the country whose capital is Lima?",
    "Which languages are spoken in the countries that border Peru?",
    "What is the capital of Chile?",
]


def graph(facts=FACTS):
    return KnowledgeGraph.from_triples(facts)


def without_timings(result):
    found = result.to_dict()
    found.pop("timings")
    return found


@pytest.fixture(scope="module")
def pathhd():
    return PathHD(graph(), max_hops=3)


def test_answers(pathhd):
    assert isinstance(pathhd, Retriever)
    answers = [pathhd.answer(question) for question in QUESTIONS]
    assert [a.entities for a in answers] == [["sol"], ["Portuguese", "Spanish"], ["Santiago"]]
    assert answers[1].text == "Portuguese, Spanish"
    assert answers[1].rationale.endswith("Peru -border-> Brazil -language-> Portuguese.")
    assert all(a.llm_calls == a.llm_attempts == 0 for a in answers)
    stages = {"link", "enumerate", "plan", "score", "expand", "read"}
    assert set(answers[0].timings) == stages
    json.dumps(answers[0].to_dict())


def test_evidence_is_cited_and_ranked(pathhd):
    evidence = pathhd.retrieve(QUESTIONS[1])
    answer = pathhd.reader.read(QUESTIONS[1], evidence)
    assert evidence.topic == "Peru"
    assert len(evidence.sequences) == 3
    assert evidence.sequences[0].relations == ["border", "language"]
    scores = [s.score for s in evidence.sequences]
    assert scores == sorted(scores, reverse=True)
    # weights 3, 2, 1 over their norm
    np.testing.assert_allclose(scores, np.array([3, 2, 1]) / np.sqrt(14), atol=0.06)
    assert [s.plan for s in evidence.sequences] == sorted(
        (s.plan for s in evidence.sequences), reverse=True
    )
    cited = [evidence.paths[i] for i in answer.citations]
    assert {path.entities[-1] for path in cited} == set(answer.entities)
    assert all(path.score == scores[0] for path in cited)


def test_one_best_plan_scores_one_and_the_rest_nothing():
    evidence = PathHD(graph(), max_hops=2, query="best").retrieve(QUESTIONS[2])
    assert evidence.sequences[0].relations == ["capital"]
    assert evidence.sequences[0].score == pytest.approx(1, abs=1e-5)
    assert max(abs(s.score) for s in evidence.sequences[1:]) < 0.1


class Asked(HashingEncoder):
    """Says that its dim was asked for, as of a server, whose answer takes its time."""

    asked = False

    @property
    def dim(self):
        self.asked = True
        return super().dim


def test_an_encoder_is_made_where_it_is_needed(tmp_path, monkeypatch):
    graph().save(tmp_path / "kg", settings={"encoder": "minilm:/gone", "encoder_dim": 384})
    kg = KnowledgeGraph.open(tmp_path / "kg")
    system = PathHD(kg)
    assert system.answer(QUESTIONS[2]).entities == ["Santiago"]
    with pytest.raises(ValueError, match="a folder that is not here"):
        PathHD(kg, planner="embedding")
    with pytest.raises(ValueError, match="a folder that is not here"):
        _ = system.encoder
    for other in ("hashing", HashingEncoder()):  # what the names contradict is refused at once
        with pytest.raises(
            ValueError, match=r"'minilm:/gone' \(dim 384\), got 'hashing' \(dim 512"
        ):
            PathHD(kg, encoder=other)
    given = Asked()
    assert PathHD(graph(), encoder=given, max_hops=1).answer(QUESTIONS[2]).text == "Santiago"
    assert not given.asked
    system = PathHD(graph(), encoder=given, planner="embedding")
    assert system.encoder is given


def test_labels_are_read_and_printed():
    facts = [("Q419", "P36", "Q2868"), ("Q419", "P38", "Q204992")]
    words = Verbalizer({"Q419": "Peru", "Q2868": "Lima"}, {"P36": "capital", "P38": "currency"})
    for planner in ("lexical", "embedding"):
        named = PathHD(graph(facts), planner=planner, max_hops=1, verbalizer=words)
        answer = named.answer("What is the capital of Peru?", topic="Q419")
        assert (answer.text, answer.entities) == ("Lima", ["Q2868"])
        assert answer.rationale == (
            'Following "capital" from Peru leads to one entity: Peru -capital-> Lima.'
        )


def test_batches_are_the_same_bits(pathhd):
    single = [without_timings(pathhd.retrieve(q)) for q in QUESTIONS]
    for threads in (None, 1, 2):
        batch = pathhd.retrieve_batch(QUESTIONS, threads=threads)
        assert [without_timings(e) for e in batch] == single
    topics = ["Lima", "Peru", "Chile"]
    answers = pathhd.answer_batch(QUESTIONS, topics)
    assert [without_timings(a) for a in answers] == [
        without_timings(pathhd.answer(q, topic=t)) for q, t in zip(QUESTIONS, topics, strict=True)
    ]
    assert pathhd.answer_batch([]) == []
    with pytest.raises(ValueError, match="3 questions, but 1 topics"):
        pathhd.retrieve_batch(QUESTIONS, ["Lima"])


def test_order_of_the_file_does_not_matter():
    found = []
    for order in (FACTS, FACTS[::-1], sorted(FACTS, key=lambda f: f[::-1])):
        system = PathHD(graph(order), max_hops=2, k=9)
        found.append([without_timings(e) for e in system.retrieve_batch(QUESTIONS)])
    assert found[0] == found[1] == found[2]


def test_topic_given_wins(pathhd):
    assert pathhd.answer("What is the capital?", topic="Peru").entities == ["Lima"]
    assert pathhd.retrieve("What is the capital of Chile?", topic="Peru").topic == "Peru"
    by_id = pathhd.kg.entity_id("Peru")
    assert pathhd.retrieve("its capital?", topic=by_id).topic == "Peru"
    with pytest.raises(UnknownEntity, match="Atlantis"):
        pathhd.retrieve("What is the capital of Chile?", topic="Atlantis")


def test_topic_linked_or_not(pathhd):
    assert pathhd.retrieve("the capital of CHILE").topic == "Chile"
    with pytest.raises(TopicNotFound, match="names no entity of the graph") as raised:
        pathhd.retrieve("What is the capital of Atlantis?")
    assert isinstance(raised.value, LookupError)


def test_of_several_topics_the_best_plan_decides():
    facts = [*FACTS, ("currency", "kind", "thing"), ("currency", "border", "edge")]
    system = PathHD(graph(facts), max_hops=2)
    evidence = system.retrieve("Which currency is used in the country whose capital is Lima?")
    assert evidence.topic == "Lima"  # though "currency" is mentioned too, and longer
    # nothing to choose by: the longer mention comes first
    assert system.retrieve("Lima, Santiago").topic == "Santiago"


def test_nothing_to_find():
    empty = PathHD(KnowledgeGraph.from_triples([]))
    assert empty.retrieve("anything?").paths == []
    assert empty.answer("anything?").entities == []
    with pytest.raises(UnknownEntity):
        empty.retrieve("anything?", topic="Peru")
    forward = PathHD(graph(), inverse=False)
    evidence = forward.retrieve("Where is Lima?")
    assert (evidence.topic, evidence.paths, evidence.sequences) == ("Lima", [], [])
    answer = forward.answer("Where is Lima?")
    assert answer.entities == []
    assert answer.text.startswith("No answer: the graph has no path that starts at Lima")


def test_k_counts_sequences_or_paths():
    question = "Which languages are spoken in the countries that border Peru?"
    by_sequence = PathHD(graph(), max_hops=3, k=2).retrieve(question)
    assert len(by_sequence.sequences) == 2
    assert len([p for p in by_sequence.paths if p.relations == ["border", "language"]]) == 2
    for k in (1, 2, 3, 500):
        by_path = PathHD(graph(), max_hops=2, k=k, k_unit="path").retrieve(question)
        assert len(by_path.paths) == min(k, len(by_path.paths)) <= k
        assert by_path.sequences[0].ends == ["Portuguese", "Spanish"]
        if k <= 3:
            assert len(by_path.paths) == k
    everything = PathHD(graph(), max_hops=2, k=500).retrieve(question)
    assert len(by_path.paths) == len(everything.paths)


def test_more_k_extends_the_list():
    lists = [
        [s.relations for s in PathHD(graph(), max_hops=2, k=k).retrieve(QUESTIONS[1]).sequences]
        for k in range(1, 9)
    ]
    assert [len(one) for one in lists] == list(range(1, 9))
    for shorter, longer in pairwise(lists):
        assert longer[: len(shorter)] == shorter


def test_a_cut_is_reported_and_the_answer_stays_whole():
    facts = [("hub", "has part", f"p{i:03}") for i in range(50)]
    system = PathHD(graph(facts), max_hops=1, path_cap=10)
    evidence = system.retrieve("What parts does hub have?")
    assert evidence.truncated
    assert len(evidence.paths) == 10
    assert len(system.reader.read("?", evidence).entities) == 50
    assert PathHD(graph(facts), max_hops=3, cap=2).retrieve("hub").truncated
    assert not PathHD(graph(facts), max_hops=1).retrieve("hub").truncated


def test_hubs_are_limited_and_named():
    facts = [("hub", "has part", f"p{i:03}") for i in range(50)] + [("top", "has part", "hub")]
    evidence = PathHD(graph(facts), max_hops=2, max_degree=10).retrieve("top")
    assert evidence.hubs == ["hub"]
    assert evidence.to_dict()["hubs"] == ["hub"]
    parts = next(s for s in evidence.sequences if s.relations == ["has part", "has part"])
    assert parts.ends == [f"p{i:03}" for i in range(0, 50, 5)]
    skipped = PathHD(graph(facts), max_hops=2, max_degree=10, hubs="skip").retrieve("top")
    assert skipped.hubs == ["hub"]
    assert ["has part", "has part"] not in [s.relations for s in skipped.sequences]
    assert PathHD(graph(facts), max_hops=2).retrieve("top").hubs == []


def test_mediators_are_stepped_over():
    facts = [("Ann", "marriage", "m1"), ("m1", "spouse", "Bob"), ("Bob", "born in", "Oslo")]
    kg = graph(facts)
    evidence = PathHD(
        kg, max_hops=1, return_to_topic=False, mediators=[kg.entity_id("m1")]
    ).retrieve("spouse of Ann")
    assert [path.entities for path in evidence.paths] == [["Ann", "m1", "Bob"]]
    assert [s.ends for s in evidence.sequences] == [["Bob"]]


def test_simple_paths_only():
    question = "Which countries border the countries that border Peru?"
    walks = PathHD(graph(), max_hops=2, inverse=False).answer(question)
    assert walks.entities == ["Peru"]
    simple = PathHD(graph(), max_hops=2, inverse=False, simple=True, k=3).retrieve(question)
    assert all(len(set(p.entities)) == len(p.entities) for p in simple.paths)
    assert len(simple.sequences) == 3  # sequences without a simple path give way to others
    gone = PathHD(graph(), max_hops=2, inverse=False, return_to_topic=False).retrieve(question)
    assert all("Peru" not in p.entities[1:] for p in gone.paths)


def test_names_survive_verbatim():
    facts = [
        ('a, "b" -> c', "is\tpart_of", "中国 😀"),
        ("中国 😀", "^odd", "d\\e"),
        ("d\\e", "\\", "x"),
    ]
    evidence = PathHD(graph(facts), max_hops=3, k=9).retrieve("?", topic='a, "b" -> c')
    longest = max(evidence.paths, key=lambda path: len(path.entities))
    assert {e for p in evidence.paths for e in p.entities} == {
        'a, "b" -> c',
        "中国 😀",
        "d\\e",
        "x",
    }
    assert len(longest.entities) == 4
    answer = PathHD(graph(facts), max_hops=1).answer("?", topic='a, "b" -> c')
    assert answer.entities == ["中国 😀"]


def test_calibration_moves_ranks():
    question, plain = QUESTIONS[1], PathHD(graph(), max_hops=2, query="best")
    assert plain.retrieve(question).sequences[0].relations == ["border", "language"]
    counts = Frequencies(100, {("border", "language"): 100})
    loud = Calibration(5.0, 0.0, 0.8, frequencies=counts)
    system = PathHD(graph(), max_hops=2, query="best", calibration=loud)
    assert system.retrieve(question).sequences[0].relations != ["border", "language"]
    # without training questions a preset only adds the length term
    preset = PathHD(graph(), max_hops=2, query="best", calibration="webqsp").retrieve(question)
    assert preset.sequences[0].score == pytest.approx(1 - 0.1 * 0.8**2, abs=1e-5)


class LastPlanner:
    """Prefers the last candidate and plans nothing else."""

    name = "last"

    def plan(self, question, mention, candidates):
        return Plans(np.array([len(candidates) - 1]), np.array([1.0]))


def test_planners_and_encoders_can_be_handed_in():
    system = PathHD(graph(), encoder=HashingEncoder(64), planner=LastPlanner(), max_hops=1, k=1)
    found = system.retrieve("Peru?").sequences[0]
    assert (found.relations, found.plan) == (["^border"], 1.0)
    assert PathHD(graph(), planner="embedding").answer(QUESTIONS[2]).entities == ["Santiago"]


def test_a_path_that_is_no_fact_is_refused(pathhd):
    kg = pathhd.kg
    found = kg.paths("Peru", 2, inverse=True)
    check_paths(kg, found)
    lima, sol = kg.entity_id("Lima"), kg.entity_id("sol")
    place = found.entities.tolist().index(lima)
    entities = found.entities.copy()
    entities[place] = sol
    step = [kg.entity_id("Peru"), sol]
    with pytest.raises(RuntimeError, match=f"holds the step {re.escape(str(step))}, which is no"):
        check_paths(kg, replace(found, entities=entities))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"k": 0}, "k must be at least 1, got 0"),
        ({"max_hops": 0}, "max_hops must be at least 1, got 0"),
        ({"path_cap": 0}, "path_cap must be at least 1, got 0"),
        ({"k_unit": "node"}, "k_unit must be sequence or path, got 'node'"),
        ({"query": "path"}, "query must be one of bundle, best, .*, text, got 'path'"),
        ({"temperature": 0}, "temperature must be above 0, got 0"),
        ({"codebook": "haar"}, "codebook must be one of random, .*, got 'haar'"),
        ({"planner": "magic"}, "lexical, embedding, contextual, got 'magic'"),
        ({"encoder": "bert"}, "hashing, wordllama, .*, got 'bert'"),
        ({"calibration": "metaqa"}, "webqsp, cwq, grailqa, got 'metaqa'"),
    ],
)
def test_wrong_options(options, message):
    with pytest.raises(ValueError, match=message):
        PathHD(graph(), **options)


names = st.sampled_from(["a", "b", "c", "d", "e"])
facts = st.lists(st.tuples(names, st.sampled_from(["r", "s", "t u"]), names), max_size=12)


@given(facts, st.integers(1, 4), st.booleans(), st.sampled_from(["sequence", "path"]))
def test_every_path_is_in_the_graph(triples, k, simple, k_unit):
    triples = [*triples, ("a", "r", "b")]
    system = PathHD(graph(triples), max_hops=2, k=k, simple=simple, k_unit=k_unit, blocks=32)
    evidence = system.retrieve("the t u of r of a", topic="a")
    known = set(triples)
    assert evidence.paths
    for path in evidence.paths:
        assert path.entities[0] == "a"
        for head, symbol, tail in zip(
            path.entities, path.relations, path.entities[1:], strict=False
        ):
            fact = (tail, symbol[1:], head) if symbol[0] == "^" else (head, symbol, tail)
            assert fact in known
        if simple:
            assert len(set(path.entities)) == len(path.entities)
    for sequence in evidence.sequences:
        ends = [p.entities[-1] for p in evidence.paths if p.relations == sequence.relations]
        assert set(ends) <= set(sequence.ends)
        assert sequence.ends == sorted(set(sequence.ends))


def test_systems_are_imported_when_first_named():
    code = (
        "import sys, hyperhop as hh; assert 'hyperhop.pathhd' not in sys.modules;"
        "print(hh.PathHD.__name__, hh.llm.VectorReader.__name__, hh.text.HashingEncoder.__name__);"
        "hasattr(hh, 'nothing') and sys.exit(1)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.split() == ["PathHD", "VectorReader", "HashingEncoder"]
