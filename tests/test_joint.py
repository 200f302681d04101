"""Questions about two topics: what sequences from both lead to."""

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop import KnowledgeGraph, PathHD
from hyperhop.cli.show import answer_lines, explain_lines
from hyperhop.graph import UnknownEntity
from hyperhop.pathhd import LexicalPlanner, Plans
from hyperhop.pathhd.clauses import split_clauses
from hyperhop.pathhd.joint import TOP, meet
from hyperhop.retrieval.clock import Clock
from hyperhop.text.mention import find_mention

FACTS = [
    ("Heat", "directed by", "Ann"),
    ("Heat", "starred", "Bob"),
    ("Cold", "directed by", "Ann"),
    ("Cold", "starred", "Cid"),
    ("Warm", "directed by", "Dora"),
    ("Warm", "starred", "Bob"),
    ("Xavier", "child", "Zoe"),
    ("Xavier", "child", "Will"),
    ("Yvonne", "child", "Zoe"),
    ("Ursula", "child", "Will"),
    ("Paris", "located in", "France"),
    ("Lyon", "located in", "France"),
    ("Paris", "hosts", "Louvre"),
    ("Lyon", "hosts", "Confluences"),
    ("Peru", "border", "Chile"),
    ("Peru", "border", "Bolivia"),
    ("Chile", "border", "Bolivia"),
    ("Chile", "border", "Peru"),
    ("Chile", "border", "Argentina"),
    ("Bolivia", "language", "Quechua"),
    ("Peru", "language", "Quechua"),
    ("Peru", "language", "Spanish"),
    ("Chile", "language", "Spanish"),
]
FILM = "Which film did Ann direct that stars Bob?"


def system(facts=FACTS, **options):
    return PathHD(KnowledgeGraph.from_triples(facts), **{"max_hops": 2, **options})


@pytest.fixture(scope="module")
def pathhd():
    return system()


def without_timings(result):
    found = result.to_dict()
    found.pop("timings")
    return found


@pytest.mark.parametrize(
    ("question", "answers", "topics"),
    [
        (FILM, ["Heat"], {"Ann", "Bob"}),
        ("Who is the child of Xavier and Yvonne?", ["Zoe"], {"Xavier", "Yvonne"}),
        ("Which countries border both Peru and Chile?", ["Bolivia"], {"Peru", "Chile"}),
        ("Which country borders Chile and has Quechua as a language?", ["Bolivia", "Peru"],
         {"Chile", "Quechua"}),
        ("Which language do Peru and Chile share?", ["Spanish"], {"Peru", "Chile"}),
    ],
)  # fmt: skip
def test_questions_that_mention_two(pathhd, question, answers, topics):
    evidence = pathhd.retrieve(question)
    answer = pathhd.reader.read(question, evidence)
    assert answer.entities == answers
    assert {evidence.topic, evidence.sequences[0].constraint.topic} == topics
    cited = [evidence.paths[i] for i in answer.citations]
    assert {path.entities[0] for path in cited} == topics
    assert {path.entities[-1] for path in cited} == set(answers)
    assert evidence.unused_topics == []


@pytest.mark.parametrize(
    ("question", "answers"),
    [
        ("Which films star Cid or Bob?", ["Heat", "Warm"]),
        ("What is the child of Xavier?", ["Will", "Zoe"]),
        ("Which language has Peru?", ["Quechua", "Spanish"]),
    ],
)
def test_questions_that_are_about_one(pathhd, question, answers):
    evidence = pathhd.retrieve(question)
    assert evidence.sequences[0].ends == answers
    assert evidence.sequences[0].constraint is None


def test_topics_can_be_given(pathhd):
    question = "what city in France hosts Louvre"
    for topics in (["France", "Louvre"], ("Louvre", "France")):
        evidence = pathhd.retrieve(question, topics)
        assert (evidence.topic, evidence.sequences[0].constraint.topic) == tuple(topics)
        assert evidence.sequences[0].ends == ["Paris"]
    ids = [pathhd.kg.entity_id(name) for name in ("France", "Louvre")]
    assert pathhd.answer(question, ids).entities == ["Paris"]
    unnamed = pathhd.retrieve("Who is the child of both?", ["Yvonne", "Xavier"])
    assert unnamed.sequences[0].ends == ["Zoe"]
    one = pathhd.retrieve(FILM, ["Ann"])
    assert without_timings(one) == without_timings(pathhd.retrieve(FILM, "Ann"))


def test_words_of_the_other_topic_do_not_disturb():
    facts = [*FACTS, ("Heat", "language", "starred"), ("directed by", "child", "Heat")]
    answer = system(facts).answer("Which film did Ann direct that stars Bob", ["Ann", "Bob"])
    assert answer.entities == ["Heat"]
    named = [("Eve", "child", "Kim"), ("Eve", "border", "Max"), ("border", "child", "Kim")]
    evidence = system(named).retrieve("Who is the child of Eve and border?", ["Eve", "border"])
    assert evidence.sequences[0].relations == ["child"]


def test_both_paths_are_evidence(pathhd):
    evidence = pathhd.retrieve(FILM)
    first = evidence.sequences[0]
    assert (first.relations, first.constraint.relations) == (["^directed by"], ["^starred"])
    shown = [(path.entities, path.relations) for path in evidence.paths[:2]]
    assert shown == [(["Ann", "Heat"], ["^directed by"]), (["Bob", "Heat"], ["^starred"])]
    scores = [path.score for path in evidence.paths[:2]]
    assert first.score == pytest.approx(np.mean(scores))
    plans = [one.plan for one in evidence.sequences]
    assert plans == sorted(plans, reverse=True)
    answer = pathhd.answer(FILM)
    assert answer.rationale == (
        'Following "directed by of" from Ann and "starred of" from Bob leads to one entity: '
        "Ann <-directed by- Heat; Bob <-starred- Heat."
    )
    assert {"link", "plan", "meet", "score", "expand"} <= set(answer.timings)


def test_where_nothing_meets_the_best_topic_answers_and_says_so(pathhd):
    question = "Which film did Dora direct that stars Cid?"
    forward = system(inverse=True, max_hops=1)
    for topics in (["Dora", "Cid"], None):
        evidence = forward.retrieve(question, topics)
        assert evidence.sequences[0].constraint is None
        assert sorted([evidence.topic, *evidence.unused_topics]) == ["Cid", "Dora"]
        answer = forward.reader.read(question, evidence)
        assert answer.entities in (["Warm"], ["Cold"])
        (warning,) = [line for line in answer_lines(answer, evidence) if "alone" in line]
        assert warning.strip() == (
            f"Answered from {evidence.topic} alone: nothing it leads to is reached from "
            f"{evidence.unused_topics[0]}."
        )
    assert pathhd.retrieve("What is the child of Xavier?").unused_topics == []


def test_explanations_of_both(pathhd):
    evidence = pathhd.retrieve(FILM, explain=True)
    first = evidence.sequences[0]
    assert [fit.relation for fit in first.explanation.fits] == ["^directed by"]
    assert [fit.relation for fit in first.constraint.explanation.fits] == ["^starred"]
    told = json.loads(json.dumps(evidence.to_dict()))
    assert told["sequences"][0]["constraint"]["topic"] == first.constraint.topic
    lines = "\n".join(explain_lines(pathhd.answer(FILM), evidence, []))
    assert "directed by of, and from Bob starred of -> Heat" in lines


@pytest.mark.parametrize("k_unit", ["sequence", "path"])
def test_k_and_batches(k_unit):
    facts = [(f"film {i}", relation, who) for i in range(9)
             for relation, who in (("directed by", "Ann"), ("starred", "Bob"))]  # fmt: skip
    for k in (1, 3, 20):
        pathhd = system(facts, k=k, k_unit=k_unit, max_hops=1)
        evidence = pathhd.retrieve(FILM)
        assert len(evidence.sequences[0].ends) == 9
        first = [path for path in evidence.paths if path.entities[0] == "Ann"]
        second = [path for path in evidence.paths if path.entities[0] == "Bob"]
        assert len(first) == len(second) == (9 if k_unit == "sequence" else min(k, 9))
        assert [p.entities[-1] for p in first] == [p.entities[-1] for p in second]
        batch = pathhd.retrieve_batch([FILM] * 3, [["Ann", "Bob"], None, ("Bob", "Ann")], threads=2)
        assert without_timings(batch[0]) == without_timings(batch[1]) == without_timings(evidence)
        assert batch[2].topic == "Bob"


def test_a_cut_is_reported_and_ends_stay_whole():
    facts = [(f"film {i}", relation, who) for i in range(30)
             for relation, who in (("directed by", "Ann"), ("starred", "Bob"))]  # fmt: skip
    evidence = system(facts, max_hops=1, path_cap=5).retrieve(FILM)
    assert evidence.truncated
    assert len(evidence.sequences[0].ends) == 30
    assert not system(facts, max_hops=1).retrieve(FILM).truncated


def test_wrong_topics(pathhd):
    for topics in ([], ["Ann", "Ann"], ["Ann", "Bob", "Cid"]):
        with pytest.raises(ValueError, match="topic must be one or two different ones"):
            pathhd.retrieve(FILM, topics)
    with pytest.raises(UnknownEntity, match="Nobody"):
        pathhd.retrieve(FILM, ["Ann", "Nobody"])


@pytest.mark.parametrize(
    ("question", "names", "expected"),
    [
        (FILM[:-1], ("Ann", "Bob"), ["Which film did Ann direct", "Which film that stars Bob"]),
        ("Who is the child of X and Y", ("X", "Y"),
         ["Who is the child of X", "Who is the child of Y"]),
        ("what city in France hosts Y", ("France", "Y"), ["what city in France",
                                                          "what city hosts Y"]),
        ("Who did Ann and Bob marry", ("Ann", "Bob"), ["Who did Ann marry", "Who did Bob marry"]),
        ("which city borders X and has Y as mayor", ("X", "Y"),
         ["which city borders X", "which city has Y as mayor"]),
        ("Who directed X and starred in Y", ("X", "Y"), ["Who directed X", "Who starred in Y"]),
        ("which films star X or Y", ("X", "Y"), None),
        ("who is the mayor of X in Y", ("X", "Y"), None),
        ("who wrote film X", ("film", "X"), None),
        ("the actor of X is also the actor of which films", ("X", "actor"), None),
        ("what did Ann direct", ("what", "Ann"), None),
        ("X and Y", ("X", "Y"), None),
    ],
)  # fmt: skip
def test_clauses(question, names, expected):
    spans = [find_mention(question, name) for name in names]
    found = split_clauses(question, *spans)
    if expected is None:
        assert found is None
        return
    *clauses, shared = found
    assert [" ".join(clause.text.split()) for clause in clauses] == expected
    assert [clause.text[slice(*clause.mention)] for clause in clauses] == list(names)
    same = [clause.text.replace(name, "_") for clause, name in zip(clauses, names, strict=True)]
    assert (same[0].split() == same[1].split()) == shared


class Seen(LexicalPlanner):
    """Notes what it was asked."""

    def __init__(self, symbols):
        super().__init__(symbols)
        self.asked = []

    def plan_all(self, question, starts):
        self.asked.append((question, [start.question for start in starts]))
        return [self.plan(*start) for start in starts]


def test_a_planner_is_asked_once_about_everything():
    kg = KnowledgeGraph.from_triples(FACTS)
    planner = Seen(kg.symbols)
    PathHD(kg, planner=planner, max_hops=2).retrieve(FILM)
    ((question, parts),) = planner.asked
    assert question == FILM
    assert len(parts) == 4  # from each topic alone, and the two clauses
    assert parts[0] == parts[1] == FILM


names = st.sampled_from("abcdef")
facts = st.lists(st.tuples(names, st.sampled_from(["r", "s"]), names), max_size=14)


class Ordered:
    """All candidates, by a hash of their names."""

    name = "ordered"

    def plan(self, question, mention, candidates):
        weights = [len(candidates.relations(i)) + hash(candidates.relations(i)[0]) % 7 / 8
                   for i in range(len(candidates))]  # fmt: skip
        order = candidates.order(np.array(weights))
        return Plans(order, np.array(weights)[order])


@given(facts, st.sampled_from(["sequence", "path"]), st.integers(1, 4), st.randoms())
def test_meetings_are_all_common_ends(triples, k_unit, k, random):
    triples = [*triples, ("a", "r", "b"), ("c", "s", "b")]
    pathhd = system(triples, planner=Ordered(), k=k, k_unit=k_unit, blocks=32)
    evidence = pathhd.retrieve("?", ["a", "c"])
    kg = pathhd.kg
    everything = {}
    for topic in ("a", "c"):
        found = kg.paths(topic, 2, inverse=True)
        everything[topic] = {
            tuple(kg.symbols[symbol] for symbol in found.sequences[i].tolist()): set(
                kg.entity_names(found.ends_of(i))
            )
            for i in range(len(found.sequences))
        }
    for sequence in evidence.sequences:
        mine = everything["a"][tuple(sequence.relations)]
        if sequence.constraint is None:
            assert evidence.unused_topics
            continue
        other = everything["c"][tuple(sequence.constraint.relations)]
        assert sequence.ends == sorted(mine & other)
        assert sequence.ends
    if max(map(len, everything.values())) <= TOP:
        meets = any(x & y for x in everything["a"].values() for y in everything["c"].values())
        assert meets == (evidence.unused_topics == [])
    random.shuffle(triples)
    again = system(triples, planner=Ordered(), k=k, k_unit=k_unit, blocks=32)
    assert without_timings(again.retrieve("?", ["a", "c"])) == without_timings(evidence)


def test_work_is_bounded():
    """Of many sequences only the first few of each topic are tried."""
    facts = [("a", f"r{i:02}", "x") for i in range(30)] + [
        ("b", f"s{i:02}", "x") for i in range(30)
    ]
    pathhd = system(facts, max_hops=1)
    topics = pathhd._topics("?", ["a", "b"])
    _, pairs = pathhd._read_question("?", topics, pathhd.walks.sequences, True, Clock())
    ((first, second),) = pairs
    assert len(first.candidates) == len(second.candidates) == 30
    found = meet(pathhd.walks, first, second, 1000).found
    assert len(found) == TOP * TOP


def test_ask_takes_two_topics(tmp_path):
    from typer.testing import CliRunner

    from hyperhop.cli import app

    KnowledgeGraph.from_triples(FACTS).save(tmp_path / "kg", settings={"max_hops": 2})
    given = ["ask", str(tmp_path / "kg"), "Who is their child?", "--topic", "Xavier", "--topic"]
    found = CliRunner().invoke(app, [*given, "Yvonne", "--explain"])
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("Zoe\n")
    assert "Xavier -child-> Zoe" in found.stdout
    assert "Yvonne -child-> Zoe" in found.stdout
    assert "child, and from Yvonne child -> Zoe" in found.stdout
    alone = CliRunner().invoke(app, [*given, "Peru", "--json"])
    assert json.loads(alone.stdout)["evidence"]["unused_topics"] == ["Peru"]
