"""Evidence, answers, and the reader without a language model."""

import json

from hyperhop.evidence import (
    Answer,
    Evidence,
    EvidenceAnswer,
    EvidencePassage,
    EvidencePath,
    EvidenceSequence,
    Reader,
)
from hyperhop.llm import VectorReader

PATHS = [
    EvidencePath(["Peru", "Chile", "Spanish"], ["border", "language"], 0.8),
    EvidencePath(["Peru", "Brazil", "Portuguese"], ["border", "language"], 0.8),
    EvidencePath(["Peru", "Spanish"], ["language"], 0.5),
    EvidencePath(["Peru", "Bolivia", "Quechua"], ["border", "language"], 0.8),
]


def test_to_dict_is_json():
    evidence = Evidence(
        topic="Peru",
        paths=PATHS,
        sequences=[EvidenceSequence(["language"], ["Spanish"], 0.5, 1.0)],
        passages=[EvidencePassage("p1", "text \t 😀", 0.1)],
        timings={"plan": 1.5},
        truncated=True,
    )
    found = json.loads(json.dumps(evidence.to_dict()))
    assert found["paths"][0] == {
        "entities": ["Peru", "Chile", "Spanish"],
        "relations": ["border", "language"],
        "score": 0.8,
        "certificate": None,
    }
    assert found["passages"][0]["text"] == "text \t 😀"
    assert found["truncated"] is True
    answer = Answer("Spanish", ["Spanish"], [0], "why", timings={"read": 0.1})
    assert json.loads(json.dumps(answer.to_dict()))["citations"] == [0]


def test_reader_takes_entities_that_the_evidence_ranks():
    ranked = [EvidenceAnswer("Spanish", 0.4), EvidenceAnswer("Aymara", 0.3)]
    evidence = Evidence(
        topic="Peru",
        paths=[
            EvidencePath(["Peru", "Spanish"], ["language"], 0.4),
            EvidencePath(["Peru", "Bolivia", "Aymara"], ["border", "language"], 0.3),
            EvidencePath(["Peru", "Lima"], ["capital"], 0.1),
        ],
        answers=[*ranked, EvidenceAnswer("Lima", 0.1)],
    )
    answer = VectorReader().read("?", evidence)
    assert answer.entities == ["Spanish", "Aymara"]  # Lima has less than half of the best score
    assert answer.citations == [0, 1]
    assert answer.text == "Spanish, Aymara"
    assert answer.rationale == (
        'Following "language" from Peru leads to one entity: Peru -language-> Spanish.'
    )
    assert answer.llm_calls == 0
    assert [one["entity"] for one in evidence.to_dict()["answers"]] == ["Spanish", "Aymara", "Lima"]


def test_reader_answers_with_all_ends_of_the_best_sequence():
    ends = ["Portuguese", "Quechua", "Spanish"]
    evidence = Evidence(
        topic="Peru",
        paths=PATHS[:2] + PATHS[2:3],  # fewer paths are shown than there are ends
        sequences=[EvidenceSequence(["border", "language"], ends, 0.8, 1.0)],
    )
    reader = VectorReader()
    assert isinstance(reader, Reader)
    answer = reader.read("?", evidence)
    assert answer.entities == ends
    assert answer.text == "Portuguese, Quechua, Spanish"
    assert answer.citations == [0, 1]
    assert answer.rationale == (
        'Following "border", then "language" from Peru leads to 3 entities: '
        "Peru -border-> Chile -language-> Spanish."
    )
    assert answer.llm_calls == answer.llm_attempts == 0
    assert answer.timings["read"] >= 0


def test_reader_works_from_paths_alone():
    answer = VectorReader().read("?", Evidence(paths=PATHS))
    assert answer.entities == ["Portuguese", "Quechua", "Spanish"]
    assert answer.citations == [0, 1, 3]
    one = VectorReader().read("?", Evidence(paths=[EvidencePath(["a", "b"], ["^r"], 1.0)]))
    assert one.rationale == 'Following "r of" from a leads to one entity: a <-r- b.'


def test_reader_says_that_nothing_was_found():
    answer = VectorReader().read("?", Evidence(topic="Peru"))
    assert answer.entities == []
    assert answer.citations == []
    assert answer.text == "No answer: the graph has no path that starts at Peru for this question."
    assert VectorReader().read("?", Evidence()).text.startswith("No answer: the graph has no path")
