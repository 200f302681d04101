"""Readers over passages: what is pointed at, cited, shown and supported."""

import json

import pytest

from hyperhop.evidence import Evidence, EvidenceHyperNode, EvidencePassage, EvidenceScoring
from hyperhop.help import HELP
from hyperhop.llm import LLMReader, Reply, VectorReader
from hyperhop.llm.listing import list_evidence
from hyperhop.llm.pointing import pointed_at
from hyperhop.text.verbalize import Verbalizer

BORN = ("Ann Lee", "born in", "Lima")
IN = ("Lima", "city of", "Peru")
PASSAGES = [
    EvidencePassage("a", "She was born in Lima.", 0.9, "Ann Lee", "path"),
    EvidencePassage("b", "Lima lies in Peru.", 0.5, found="path"),
    EvidencePassage("c", "Nothing.", 0.3, "Other"),
]
EVIDENCE = Evidence(
    passages=PASSAGES,
    hypernodes=[EvidenceHyperNode([BORN, IN], 0.7, [0, 1])],
    scoring=EvidenceScoring("composition"),
)


@pytest.mark.parametrize(
    ("question", "triples", "expected"),
    [
        ("Where was Ann Lee born?", [BORN], "Lima"),
        ("Who was born in Lima?", [BORN], "Ann Lee"),
        ("In which country was ann_lee born?", [BORN, IN], "Peru"),
        ("In which country was ann lee born?", [IN, BORN], "Peru"),
        ("Of what is Lima a city?", [BORN, IN], "Peru"),
        ("Who comes from Peru?", [BORN, IN], "Ann Lee"),
        ("Which?", [BORN], "Lima"),
        ("Which?", [("a", "r", "b"), ("c", "r", "b")], "a"),
        ("Is Ann Lee from Lima?", [BORN], None),
        ("Which?", [("x", "is", "x")], "x"),
        ("Lima", [], None),
        ("Annie was limaesque", [BORN], "Lima"),
        ("秘鲁 的首都", [("秘鲁", "首都", "利马")], "利马"),
        ("Where?", [BORN, IN, ("Peru", "in", "America")], "America"),
    ],
)
def test_what_a_hypernode_points_at(question, triples, expected):
    assert pointed_at(question, triples) == expected


def test_the_vector_reader_cites_who_states_the_nearest_facts():
    answer = VectorReader().read("In which country was Ann Lee born?", EVIDENCE)
    assert (answer.text, answer.entities, answer.citations) == ("Peru", ["Peru"], [0, 1])
    assert (answer.llm_calls, answer.unsupported) == (0, [])
    assert answer.rationale == (
        "Nearest to the question are the facts Ann Lee - born in - Lima; Lima - city of - Peru, "
        'which point at Peru. Stated in "Ann Lee", "b".'
    )
    assert set(answer.timings) == {"read"}


def test_hypernodes_that_no_passage_shown_states_are_passed_over():
    far = EvidenceHyperNode([("x", "r", "y")], 0.1, [])
    evidence = Evidence(passages=PASSAGES, hypernodes=[far, EvidenceHyperNode([BORN], 0.2, [0])])
    assert VectorReader().read("Where was Ann Lee born?", evidence).entities == ["Lima"]
    answer = VectorReader().read("q", Evidence(passages=PASSAGES, hypernodes=[far]))
    assert (answer.entities, answer.citations) == ([], [0, 1, 2])
    assert answer.text.startswith("No answer in one name")


def test_a_question_that_names_all_there_is():
    answer = VectorReader().read("Was Ann Lee born in Lima, Peru?", EVIDENCE)
    assert answer.text == "No answer: the question names all entities of the nearest facts."
    assert (answer.entities, answer.citations) == ([], [0, 1])


def test_titles_are_shown_and_support_answers():
    listing = list_evidence(EVIDENCE, Verbalizer(), 9)
    assert listing.noun == "passage"
    assert listing.lines == [
        '"Ann Lee": "She was born in Lima."; score: 0.900',
        '"Lima lies in Peru."; score: 0.500',
        '"Other": "Nothing."; score: 0.300',
    ]
    plain = list_evidence(EVIDENCE, Verbalizer(), 9, quoted=False)
    assert plain.lines == [
        "Ann Lee: She was born in Lima.",
        "Lima lies in Peru.",
        "Other: Nothing.",
    ]
    assert EVIDENCE.to_dict()["hypernodes"] == [
        {"triples": [BORN, IN], "distance": 0.7, "passages": [0, 1]}
    ]
    assert json.loads(json.dumps(EVIDENCE.to_dict()))["scoring"]["scorer"] == "composition"


class Told:
    """A model that replies what it is told to."""

    name, takes_schema = "told", None

    def __init__(self, *replies):
        self.replies, self.asked = list(replies), []

    def chat(self, messages, *, schema=None, grammar=None, max_tokens=None):
        self.asked.append(messages)
        return Reply(self.replies[len(self.asked) - 1])

    async def achat(self, messages, **arguments):
        return self.chat(messages, **arguments)


def reply(answers, citations):
    return json.dumps({"answers": answers, "citations": citations, "rationale": "so"})


@pytest.mark.needs("llm")
def test_one_call_reads_passages_and_unsupported_answers_are_told():
    help = HELP.build(
        [{"id": one.id, "text": one.text, "title": one.title} for one in PASSAGES],
        [[BORN], [IN], []],
    )
    model = Told(reply(["Ann Lee", "Chile"], [1, 9]), reply(["Peru"], [1, 2]), reply(["Lima"], [1]))
    help.reader = LLMReader(model)
    answer = help.answer("Who was born in Lima?")
    shown = model.asked[0][1]["content"]
    assert '"Ann Lee": "She was born in Lima."' in shown
    assert (answer.llm_calls, answer.llm_attempts) == (1, 1)
    assert (answer.entities, answer.unsupported) == (["Ann Lee"], ["Chile"])
    assert answer.dropped_citations == ["9"]
    assert answer.citations == [0]
    batch = help.answer_batch(["In which country was Ann Lee born?", "Where was Ann Lee born?"])
    assert [one.llm_calls for one in batch] == [1, 1]
    assert len(model.asked) == 3
    assert HELP.build([]).answer("q").llm_calls == 0


def test_an_evidence_of_nothing():
    answer = VectorReader().read("q", Evidence(scoring=EvidenceScoring("composition")))
    assert answer.text == "No answer: there are no passages."
    assert (answer.entities, answer.citations) == ([], [])
