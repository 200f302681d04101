"""The harness around any retriever: records, readers, folds, files, and their sums."""

import json
from dataclasses import replace

import pytest
from typer.testing import CliRunner

from hyperhop import KnowledgeGraph, PathHD
from hyperhop.cli import app
from hyperhop.evaluate import (
    Coverage,
    Question,
    ask,
    compare,
    evaluate,
    judge,
    read_records,
    summarize,
    write_records,
)
from hyperhop.evidence import Answer, Evidence, EvidencePassage, EvidencePath
from hyperhop.graph import MalformedLine
from hyperhop.llm import ChatClient, LLMReader, VectorReader
from loopback import Loopback, status

FACTS = [("Ann", "spouse", "Bob"), ("Bob", "child", "Cid"), ("Bob", "child", "Dee")]
ABOUT = {"benchmark": "toy", "split": "none", "part": "test"}


def question(text="who is a child of the spouse of Ann", topic="Ann", **changes):
    made = Question(
        text, topic, None, frozenset(["Cid", "Dee"]), frozenset([("spouse", "child")]), 1, id="q"
    )
    return replace(made, **changes)


@pytest.fixture
def system():
    return PathHD(KnowledgeGraph.from_triples(FACTS), max_hops=2, inverse=False)


def test_one_question(system):
    (record,) = ask(system, [question()])
    assert record.predicted == ["Cid", "Dee", "Bob"]
    assert (record.path, record.rank, record.ends) == (["spouse", "child"], 1, 2)
    assert (record.gold, record.gold_paths) == (["Cid", "Dee"], [["spouse", "child"]])
    assert record.values == {
        **dict.fromkeys(("hits@1", "hits@5", "hits@10", "alias_hits@1", "set_exact", "f1"), 1),
        **dict.fromkeys(("exact_match", "token_f1", "rog_hit", "path_hit@1", "path_hit@3"), 1),
    }
    assert set(record.milliseconds) == {
        "link",
        "enumerate",
        "plan",
        "score",
        "expand",
        "total",
    }
    assert (record.unasked, record.text, record.llm_calls) == ("", "", 0)


@pytest.mark.parametrize(
    ("text", "topic", "reason"),
    [
        ("who is it", "Zoe", "no entity named 'Zoe'"),
        ("who is it", None, "names no entity of the graph"),
    ],
)
def test_who_cannot_be_asked_is_missed_with_the_reason(system, text, topic, reason):
    records = ask(system, [question(), question(text, topic, id="other", unit=2)])
    assert reason in records[1].unasked
    assert set(records[1].values.values()) == {0}
    scores = summarize(records, **ABOUT)
    assert (scores.n, scores.unasked, scores.hits_at_1, scores.path_hit_at_1) == (2, 0.5, 0.5, 0.5)


def test_a_question_may_leave_the_topic_to_the_system(system):
    assert ask(system, [question(topic=None)])[0].values["hits@1"] == 1


def test_two_topics_may_be_asked_at_once():
    facts = [("Ann", "directed", f) for f in "PQ"] + [("Bob", "starred", f) for f in "QR"]
    system = PathHD(KnowledgeGraph.from_triples(facts), max_hops=1)
    asked = question(
        "which film directed by Ann starred Bob",
        "Ann",
        answers=frozenset("Q"),
        paths=frozenset([("directed",)]),
        other_topics=("Bob",),
    )
    alone, both = (ask(system, [asked], joint=joint)[0] for joint in (False, True))
    assert (alone.predicted, alone.values["set_exact"]) == (["P", "Q"], 0)
    assert (both.predicted, both.values["set_exact"], both.values["path_hit@1"]) == (["Q"], 1, 1)
    assert ask(system, [replace(asked, other_topics=())], joint=True)[0].predicted == ["P", "Q"]


def test_cut_searches_count_and_are_told():
    kg = KnowledgeGraph.from_triples(FACTS)
    cut = PathHD(kg, max_hops=2, inverse=False, cap=1)
    scores = summarize(ask(cut, [question()]), **ABOUT)
    assert (scores.truncated, scores.hits_at_1, scores.path_hit_at_1) == (1, 0, 0)
    whole = PathHD(kg, max_hops=2, inverse=False)
    assert summarize(ask(whole, [question()]), **ABOUT).truncated == 0


def test_a_reader_is_judged_in_place_of_the_evidence(system):
    (record,) = ask(system, [question()], reader=VectorReader())
    assert (record.text, record.predicted, record.ends) == ("Cid, Dee", ["Cid", "Dee"], 2)
    assert (record.values["exact_match"], record.values["rog_hit"]) == (0, 1)
    assert record.values["token_f1"] == pytest.approx(2 / 3)
    assert record.milliseconds["read"] <= record.milliseconds["total"]
    assert (record.llm_calls, record.llm_attempts) == (0, 0)


@pytest.mark.needs("llm")
def test_a_language_model_is_counted(system):
    reply = '{"answers": ["Dee"], "citations": [2], "rationale": "because"}'
    with Loopback() as server:
        server.answer = lambda messages: reply
        server.script = [status(429, retry_after="0")]
        reader = LLMReader(ChatClient(server.url, "m"))
        records = ask(system, [question(), question(id="p")], reader=reader)
    assert records[0].predicted == ["Dee"]
    assert records[0].values["hits@1"] == 1
    assert records[0].values["set_exact"] == 0
    assert records[0].values["f1"] == pytest.approx(2 / 3)
    assert [(one.llm_calls, one.llm_attempts) for one in records] == [(1, 2), (1, 1)]
    scores = summarize(records, **ABOUT)
    assert (scores.llm_calls, scores.llm_attempts) == (2, 3)
    assert (scores.prompt_tokens, scores.completion_tokens) == (22, 6)


class Passages:
    """Finds the same three passages for everything."""

    def retrieve(self, question, topic=None):
        found = [EvidencePassage(f"p{i}", "text", 1.0) for i in (3, 1, 2)]
        return Evidence(passages=found, timings={"search": 1.0})


def test_any_retriever_of_passages():
    asked = question(topic=None, passages=frozenset(["p1", "p9"]), paths=frozenset())
    scores = summarize(ask(Passages(), [asked, replace(asked, passages=frozenset())]), **ABOUT)
    assert (scores.metrics["recall@2"], scores.metrics["passage_hit@2"]) == (0.5, 1)
    assert scores.counts["recall@2"] == 1
    assert scores.counts["hits@1"] == 2
    assert (scores.with_paths, scores.path_hit_at_1, scores.hits_at_1) == (0, None, 0)
    assert scores.milliseconds["search"] == (1, 1)


def test_paths_alone_are_grouped_by_their_relations():
    paths = [
        EvidencePath(["Ann", "Bob", "Dee"], ["spouse", "child"], 0.9),
        EvidencePath(["Ann", "Bob"], ["spouse"], 0.8),
        EvidencePath(["Ann", "Bob", "Cid"], ["spouse", "child"], 0.7),
    ]
    values = judge(question(), Evidence(paths=paths))
    assert values["set_exact"] == values["hits@1"] == values["path_hit@1"] == 1
    nothing = judge(question(), Evidence())
    assert set(nothing.values()) == {0}


def test_aliases_never_reach_exact_numbers():
    answer = Answer("Cyd", ["Cyd"])
    values = judge(question(aliases=frozenset(["Cyd"])), Evidence(), answer)
    assert values["alias_hits@1"] == 1
    assert values["hits@1"] == values["f1"] == values["exact_match"] == values["rog_hit"] == 0


def test_levels_are_summed_up_apart(system):
    asked = [
        question(id="a", level="easy"),
        question(id="b", level="hard", topic="Bob", unit=2),
        question(id="c", level="hard", unit=3),
    ]
    scores = summarize(ask(system, asked), **ABOUT)
    assert {level: values["n"] for level, values in scores.by_level.items()} == {
        "easy": 1,
        "hard": 2,
    }
    assert scores.by_level["hard"]["path_hit@1"] == 0.5
    assert scores.path_hit_at_1 == pytest.approx(2 / 3)


def test_records_are_kept_merged_and_compared(system, tmp_path):
    asked = [
        question(id=str(i), unit=(i, "s"), text=f"who is the child of Ann {i}") for i in range(4)
    ]
    asked.append(question(id="漢", unit=9, topic="Zoe"))
    records = ask(system, asked)
    write_records(tmp_path / "a.jsonl", records)
    assert read_records(tmp_path / "a.jsonl") == records
    assert (tmp_path / "a.jsonl").read_text("utf-8").count("漢") == 1
    merged = summarize(records[2:] + records[:2], **ABOUT)
    alone = summarize(records, **ABOUT)
    assert (merged.hits_at_1, merged.intervals) == (alone.hits_at_1, alone.intervals)
    assert merged.interval == merged.intervals["hits@1"]
    worse = ask(PathHD(system.kg, max_hops=1, inverse=False), asked)
    gain = compare(records, worse[::-1], "path_hit@1")
    assert compare(records[::-1], worse, "path_hit@1") == gain
    assert gain.mean == pytest.approx(0.8)
    assert gain.low <= gain.mean <= gain.high
    assert compare(records, records) == (0, 0, 0)


def test_only_the_same_questions_are_compared(system, tmp_path):
    records = ask(system, [question(id="a"), question(id="b", paths=frozenset())])
    with pytest.raises(ValueError, match="expected the same questions, got 2 and 1 records, 1 ids"):
        compare(records, records[:1])
    with pytest.raises(ValueError, match="got 2 and 2 records, 1 ids"):
        compare(records, [records[0], records[0]])
    with pytest.raises(ValueError, match="'path_hit@1' was not measured for question 'b'"):
        compare(records, records, "path_hit@1")
    with pytest.raises(ValueError, match="needs at least one record"):
        summarize([], **ABOUT)
    (tmp_path / "r.jsonl").write_text('{"id": "a"}\n', "utf-8")
    with pytest.raises(MalformedLine, match=r"r\.jsonl, line 1: expected the keys of a record"):
        read_records(tmp_path / "r.jsonl")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, (1, 1, 1, 1)),
        ({"topic": "Zoe"}, (0, 1, 0, 0)),
        ({"answers": frozenset(["Zoe"])}, (1, 0, 1, 0)),
        ({"paths": frozenset([("child",)])}, (1, 1, 0, 1)),
        ({"topic": "Cid"}, (1, 1, 0, 0)),
        ({"answers": frozenset(["Ann"])}, (1, 1, 1, 0)),
    ],
)
def test_what_a_ranking_could_reach(system, changes, expected):
    found = Coverage(system)(question(**changes))
    names = ("topic_in_graph", "answer_in_graph", "candidate_coverage", "answer_coverage")
    assert tuple(found[name] for name in names) == expected
    assert "candidate_coverage" not in Coverage(system)(question(paths=frozenset()))


@pytest.fixture
def folder(tmp_path):
    """A made-up PQ-2H of thirty pairs, each asked twice."""
    people = [f"p{i}" for i in range(30)]
    facts = [(p, "spouse", people[i - 1]) for i, p in enumerate(people)]
    facts += [(p, "child", people[i - 7]) for i, p in enumerate(people)]
    lines = [
        f"{ask} the child of the spouse of {p} ?\t{people[i - 8]}({people[i - 8]}/)\t"
        f"{p}#spouse#{people[i - 1]}#child#{people[i - 8]}#<end>#{people[i - 8]}"
        for i, p in enumerate(people)
        for ask in ("who is", "name")
    ]
    (tmp_path / "2H-kb.txt").write_text("".join("\t".join(f) + "\n" for f in facts), "utf-8")
    (tmp_path / "PQ-2H.txt").write_text("\n".join(lines) + "\n", "utf-8")
    return tmp_path


def test_all_folds_in_one_call(folder, tmp_path):
    told = []
    kept = tmp_path / "r.jsonl"
    scores = evaluate(
        "PQ-2H",
        folder,
        "test",
        split="folds",
        fold="all",
        planner="memory",
        records=kept,
        progress=lambda *done: told.append(done),
    )
    assert (scores.n, scores.units, scores.split) == (60, 30, "folds")
    assert len({record.id for record in read_records(kept)}) == 60
    alone = [
        evaluate("PQ-2H", folder, "test", split="folds", fold=i, planner="memory")
        for i in range(10)
    ]
    assert scores.by_fold == [one.hits_at_1 for one in alone]
    assert scores.hits_at_1 == pytest.approx(sum(one.hits_at_1 * one.n for one in alone) / 60)
    assert told == [(i, 6) for i in range(1, 7)] * 10
    for wrong in ({"split": "disjoint"}, {"split": "folds", "part": "train"}):
        with pytest.raises(ValueError, match="fold='all' needs split='folds'"):
            evaluate("PQ-2H", folder, fold="all", **wrong)


def test_the_harness_takes_a_reader_and_coverage(folder):
    scores = evaluate("PQ-2H", folder, reader=VectorReader(), coverage=True)
    assert scores.settings["reader"] == "VectorReader"
    assert "read" in scores.milliseconds
    assert scores.metrics["candidate_coverage"] == scores.metrics["answer_coverage"] == 1
    assert set(scores.machine) == {"system", "processor", "cores", "kernels", "threads"}
    assert "candidate_coverage" not in evaluate("PQ-2H", folder).metrics
    json.dumps(scores.to_dict(), allow_nan=False)


@pytest.fixture
def own(tmp_path):
    """Two questions with subgraphs of their own."""
    lines = [
        {"id": str(i), "question": f"who is the spouse of {a}", "q_entity": [a], "a_entity": [b],
         "graph": [[a, "spouse", b], [a, "child", "x"]], "ground_paths": [["spouse"]]}
        for i, (a, b) in enumerate([("ann", "bob"), ("cid", "dee")])
    ]  # fmt: skip
    path = tmp_path / "mine.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return path


def test_a_file_of_questions_with_subgraphs(own):
    scores = evaluate(str(own), coverage=True)
    assert (scores.benchmark, scores.split, scores.part, scores.n) == (
        "mine.jsonl",
        "file",
        "test",
        2,
    )
    assert scores.hits_at_1 == scores.path_hit_at_1 == scores.metrics["answer_coverage"] == 1
    assert scores.settings["max_hops"] == 2
    assert evaluate(str(own), limit=1).n == 1
    assert evaluate(str(own), planner="gold", max_hops=1).set_exact == 1
    with pytest.raises(ValueError, match="a file of questions has no splits, got 'random'"):
        evaluate(str(own), split="random")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("", "holds no questions"),
        ('{"question": "q", "a_entity": ["b"]}', "question '1' has no subgraph"),
        ('{"question": "q", "a_entity": [], "graph": []}', "no question has answers"),
    ],
)
def test_a_file_that_cannot_be_evaluated(tmp_path, line, message):
    (tmp_path / "f.jsonl").write_text(line, "utf-8")
    with pytest.raises(ValueError, match=message):
        evaluate(str(tmp_path / "f.jsonl"))


def test_a_file_on_the_command_line(own, monkeypatch):
    monkeypatch.delenv("HYPERHOP_DATA", raising=False)
    ran = CliRunner().invoke(app, ["eval", str(own)])
    assert ran.exit_code == 0, ran.output
    assert "hits@1" in ran.output
    with pytest.raises(ValueError, match="PQ-2H needs the folder"):
        evaluate("PQ-2H")
