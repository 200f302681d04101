"""Training examples of a reader as JSON Lines: the template, names verbatim, what is left out."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hyperhop.evidence import Evidence, EvidencePassage, Retriever
from hyperhop.graph import KnowledgeGraph
from hyperhop.llm.replies import ParseFailure
from hyperhop.llm.template import ReaderTemplate
from hyperhop.pathhd import PathHD
from hyperhop.rsf.stage2 import (
    Exported,
    ReaderExample,
    evidence_for,
    read_records,
    template_file,
    write_examples,
)
from hyperhop.text import Verbalizer
from hyperhop.text.verbalize import Template
from tiny_reader import CAPITALS, EXAMPLES, evidence

ODD = [
    "a, b",
    "{question}",
    "(x)",
    "it's",
    "tab\there",
    "-> <-",
    "Ω मृत्यु 利马",
    "🦙",
    "line\nend",
    '"',
]


def lines(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_form_of_the_paper(tmp_path):
    told = []
    done = write_examples(tmp_path / "train.jsonl", EXAMPLES[:1], progress=told.append)
    assert lines(tmp_path / "train.jsonl") == [
        {
            "question": "What is the capital of Peru?",
            "context": [
                "Peru -capital-> Lima",
                "Peru -border-> Chile -capital-> Santiago",
            ],
            "answers": ["Lima"],
            "prompt": "Context: [Peru -capital-> Lima; Peru -border-> Chile -capital-> Santiago] "
            "Question: What is the capital of Peru?\n",
            "completion": "Answer: Lima",
        }
    ]
    assert done == Exported(examples=1, paths=2, answer_shown=1)
    assert told == [1]


def test_without_paths_the_question_stands_alone(tmp_path):
    examples = [*EXAMPLES[:1], ReaderExample("Who?", ["Ana", "Bob"], Evidence())]
    done = write_examples(tmp_path / "train.jsonl", examples, ReaderTemplate(paths=False))
    assert [line["prompt"] for line in lines(tmp_path / "train.jsonl")] == [
        "Question: What is the capital of Peru?\n",
        "Question: Who?\n",
    ]
    assert lines(tmp_path / "train.jsonl")[1]["completion"] == "Answer: Ana; Bob"
    assert (done.examples, done.paths, done.without_evidence) == (2, 0, 0)


def test_what_is_left_out_is_counted(tmp_path):
    many = evidence(*(["Peru", "border", f"c{i}"] for i in range(5)))
    examples = [
        ReaderExample("nothing found", ["x"], Evidence()),
        ReaderExample("no answer", [], CAPITALS),
        ReaderExample("many", ["elsewhere", "elsewhere"], many),
    ]
    done = write_examples(tmp_path / "t.jsonl", examples, ReaderTemplate(max_paths=2))
    assert done == Exported(1, paths=2, unshown=3, without_evidence=1, without_answers=1)
    assert lines(tmp_path / "t.jsonl")[0]["answers"] == ["elsewhere"]


def test_passages_are_context_too(tmp_path):
    found = Evidence(passages=[EvidencePassage("p", "Lima is the capital.", 1.0)])
    write_examples(tmp_path / "t.jsonl", [ReaderExample("Which?", ["Lima"], found)])
    assert lines(tmp_path / "t.jsonl")[0]["context"] == ["Lima is the capital."]


@pytest.mark.parametrize("name", ODD)
def test_names_are_verbatim(tmp_path, name):
    found = evidence(["Peru", "capital", name])
    write_examples(tmp_path / "t.jsonl", [ReaderExample(name, [name], found)])
    template, records = read_records(tmp_path / "t.jsonl")
    (record,) = records
    assert record.question == name
    assert record.prompt == f"Context: [Peru -capital-> {name}] Question: {name}\n"
    assert record.answers == [name]
    assert template.parse(record.completion, {name}.__contains__).answers == [name]


def test_half_a_surrogate_pair_survives(tmp_path):
    write_examples(tmp_path / "t.jsonl", [ReaderExample("\ud800?", ["Lima"], CAPITALS)])
    assert next(read_records(tmp_path / "t.jsonl")[1]).question == "\ud800?"


def test_wording_goes_into_the_template_and_labels_into_the_text(tmp_path):
    words = Verbalizer(
        {"m.01": "Peru"}, {"capital": "seat"}, mediators="skip", template=Template("={relation}=>")
    )
    found = evidence(["m.01", "capital", "m.02", "of", "Lima"])
    write_examples(
        tmp_path / "t.jsonl", [ReaderExample("Which?", ["m.01"], found)], verbalizer=words
    )
    template, records = read_records(tmp_path / "t.jsonl")
    assert next(records).context == ["Peru =seat=> =of=> Lima"]
    assert template == ReaderTemplate(mediators="skip", steps=Template("={relation}=>"))
    assert template.verbalizer(words.labels, words.relation_labels) == words


def test_any_retriever_and_a_topic_it_does_not_know(tmp_path):
    graph = KnowledgeGraph.from_triples([("Peru", "capital", "Lima"), ("Peru", "border", "Chile")])
    system = PathHD(graph)
    assert isinstance(system, Retriever)
    asked = [
        ("What is the capital of Peru?", "Peru", ["Lima"]),
        ("What is the capital of Mars?", "Mars", ["none"]),
        ("Who is it?", None, ["none"]),
    ]
    done = write_examples(tmp_path / "t.jsonl", evidence_for(system, asked))
    assert (done.examples, done.without_evidence, done.answer_shown) == (1, 2, 1)
    assert lines(tmp_path / "t.jsonl")[0]["context"][0] == "Peru -capital-> Lima"


def test_a_fault_of_the_retriever_is_no_missing_topic():
    class Broken:
        def retrieve(self, question, topic=None):
            return {}["x"]

    with pytest.raises(KeyError):
        next(evidence_for(Broken(), [("q", None, [])]))


def test_a_failure_leaves_the_old_file(tmp_path):
    path = tmp_path / "t.jsonl"
    write_examples(path, EXAMPLES)
    before = path.read_bytes()

    def failing():
        yield EXAMPLES[0]
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        write_examples(path, failing())
    assert path.read_bytes() == before
    assert sorted(file.name for file in tmp_path.iterdir()) == ["t.jsonl", "t.template.json"]


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ("{", "line 1 is no JSON"),
        ("[]", "expected an object with the keys answers, completion, context"),
        ('{"question": "q"}', "expected an object with the keys"),
        (
            '{"question":"q","context":"c","answers":[],"prompt":"","completion":""}',
            "context must be",
        ),
        ('{"question":1,"context":[],"answers":[],"prompt":"","completion":""}', "must be strings"),
        (
            '{"question":"q","context":[],"answers":[],"prompt":"","completion":""}',
            "is not what the",
        ),
    ],
)
def test_lines_that_are_no_record(tmp_path, line, fault):
    path = tmp_path / "t.jsonl"
    write_examples(path, [])
    path.write_text(line + "\n", encoding="utf-8")
    with pytest.raises(ValueError, match=fault):
        list(read_records(path)[1])


# --- the template ------------------------------------------------------------------------------


def test_a_template_is_stored_and_read(tmp_path):
    made = ReaderTemplate(paths=False, max_paths=7, max_tokens=99, between_answers=" | ")
    made.save(tmp_path / "t.json")
    assert ReaderTemplate.load(tmp_path / "t.json") == made
    assert template_file("a/train.jsonl").name == "train.template.json"


@pytest.mark.parametrize("text", ["{}", "[]", "x", '{"version": 1}', '{"version": 2}'])
def test_what_is_no_template(tmp_path, text):
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(ValueError, match=r"t\.json holds no reader template"):
        ReaderTemplate.load(tmp_path / "t.json")


@pytest.mark.parametrize(
    ("option", "fault"),
    [
        ({"prompt": "{question}"}, "prompt must hold {context} and {question} once"),
        ({"prompt": "{context}{question}{question}"}, "prompt must hold"),
        ({"answer": "{answers!r}"}, "answer must hold {answers} once"),
        ({"question_only": "{question} {x}"}, "question_only must hold"),
        ({"between_answers": ""}, "between_answers must not be empty"),
        ({"max_paths": 0}, "max_paths must be 1 or more, got 0"),
    ],
)
def test_templates_that_cannot_be(option, fault):
    with pytest.raises(ValueError, match="ReaderTemplate: ") as caught:
        ReaderTemplate(**option)
    assert fault in str(caught.value)


@given(st.lists(st.text(min_size=1, max_size=6).filter(str.strip), min_size=1, max_size=5))
def test_known_names_come_back_whatever_stands_in_them(names):
    template = ReaderTemplate()
    names = [*names, "Trinidad; and Tobago"]
    reply = template.parse(template.complete(names), set(names).__contains__)
    joined = template.between_answers.join
    assert joined(reply.answers) == joined(names)
    assert "Trinidad; and Tobago" in reply.answers or any("Tobago" in one for one in reply.answers)
    assert (reply.repaired, reply.citations) == (False, [])


def test_replies_that_are_cut_or_odd():
    template = ReaderTemplate()
    nothing = frozenset().__contains__
    assert template.parse("Answer: Lima; Chi", nothing, cut=True).answers == ["Lima"]
    loose = template.parse(" Lima\n", nothing)
    assert (loose.answers, loose.repaired) == (["Lima"], True)
    for text, cut in (("Answer: Li", True), ("Answer: ", False), ("  ", False)):
        with pytest.raises(ParseFailure, match="the reply"):
            template.parse(text, nothing, cut=cut)


@pytest.mark.parametrize("room", range(0, 60))
def test_shortening_keeps_the_first_lines_that_fit(room):
    template = replace(ReaderTemplate(), prompt="{context}|{question}", question_only="{question}")
    context = ["aaaa", "bb", "cccccccc"]
    found = template.shorten("qq", context, lambda prompt: len(prompt) <= room)
    fitting = [n for n in range(4) if len(template.ask("qq", context[:n])) <= room]
    assert found == ((template.ask("qq", context[: fitting[-1]]), fitting[-1]) if fitting else None)
