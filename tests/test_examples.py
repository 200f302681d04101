"""Every program of examples/ runs as its README says, and its adaptor serves any retriever."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from loopback import Loopback

EXAMPLES = Path(__file__).parent.parent / "examples"


def run(*args, **environment):
    """A real process: what it prints; its errors, if it fails."""
    done = subprocess.run(
        [sys.executable, *map(str, args)],
        env={**os.environ, "PYTHONIOENCODING": "utf-8", **environment},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_lists_every_example():
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    names = {path.name for path in EXAMPLES.glob("*.py")}
    assert {name for name in names if f"python examples/{name}" in readme} == names


def test_ask_a_graph():
    assert run(EXAMPLES / "ask_a_graph.py").splitlines() == [
        "What is the birthplace of the spouse of Marie Curie?",
        "Paris",
        "  [0] Marie Curie -spouse-> Pierre Curie -birthplace-> Paris  (0.798)",
    ]


def test_ask_documents():
    assert run(EXAMPLES / "ask_documents.py").splitlines() == [
        "In which town did the engineer grow up who built Calder Bridge?",
        "Bergen",
        "  [0] Calder Bridge: Calder Bridge crosses the Ouse. "
        "It was built by the engineer Brandt in 1887.",
        "  [1] Brandt: Brandt grew up in the town of Bergen, and studied under Karl Holm.",
        "  Brandt - grew up in the town of - Bergen",
        "  Calder Bridge - was built by the engineer - Brandt",
    ]


@pytest.mark.needs("llm")
def test_ask_with_llm(tmp_path):
    reply = {
        "answers": ["Paris", "Rome"],
        "citations": [5, 12],
        "rationale": "He was born there.",
    }
    with Loopback() as server:
        server.answer = lambda messages: json.dumps(reply)
        printed = run(
            EXAMPLES / "ask_with_llm.py",
            server.url,
            HYPERHOP_CONFIG="",
            HYPERHOP_LLM_MODEL="",
            XDG_CONFIG_HOME=str(tmp_path),  # not what is configured on this machine
        )
    assert printed.splitlines() == [
        "From which city did the husband of Marie Curie come?",
        "Paris, Rome",
        "  [4] Marie Curie -spouse-> Pierre Curie -birthplace-> Paris",
        "Not said by these paths: Rome",
        "Why: He was born there.",
        "Calls: 1, tokens read: 11",
    ]
    # which model it has, then the one question
    assert [request.path for request in server.requests] == ["/v1/models", "/v1/chat/completions"]


@pytest.mark.needs("langchain")
def test_langchain():
    first, second, third = run(EXAMPLES / "langchain_retriever.py").splitlines()
    assert "page_content='Prague -lies on-> Vltava -flows into-> Elbe'" in first
    assert "'entities': ['Prague', 'Vltava', 'Elbe']" in first
    assert "'relations': ['lies_on', 'flows_into']" in first
    assert "page_content='Dresden -lies on-> Elbe'" in second
    assert "page_content='Prague -capital of-> Czechia'" in third


@pytest.mark.needs("llama_index")
def test_llamaindex():
    first, second = run(EXAMPLES / "llamaindex_retriever.py").splitlines()
    assert first.startswith(
        "Requiem -composer-> Wolfgang Amadeus Mozart -birthplace-> Salzburg  1.000  "
    )
    assert "'relations': ['composer', 'birthplace']" in first
    assert second.startswith("Requiem -completed by-> Franz Xaver Süssmayr  1.000  ")


# The adaptors with a retriever that has passages too, and that is stuck until the event loop of
# its caller has come round again: it never is if it is called on that loop.

STUCK = """
import asyncio, json, threading
from hyperhop.evidence import Evidence, EvidencePassage, EvidencePath

class Stuck:
    def __init__(self):
        self.go = threading.Event()

    def retrieve(self, question, topic=None):
        assert self.go.wait(10), "the event loop was blocked"
        path = EvidencePath(["A", "B → (日本)"], ["r"], 0.5)
        return Evidence(paths=[path], passages=[EvidencePassage("p7", "Text, as it is.", 0.25)])

async def asked(stuck, question):
    task = asyncio.create_task(question)
    for _ in range(3):
        await asyncio.sleep(0.01)
    stuck.go.set()
    return await task
"""


@pytest.mark.needs("langchain")
def test_langchain_with_any_retriever():
    program = """
import hyperhop as hh
from langchain_retriever import FACTS, HyperhopRetriever

stuck = Stuck()
adaptor = HyperhopRetriever(retriever=stuck)
later = asyncio.run(asked(stuck, adaptor.ainvoke("?")))
assert later == adaptor.invoke("?")
print(json.dumps([[d.id, d.page_content, d.metadata] for d in later]))

try:
    HyperhopRetriever(retriever=object())
except ValueError as error:
    assert "Retriever" in str(error)
else:
    raise AssertionError("an object that retrieves nothing was taken")

try:
    HyperhopRetriever(retriever=hh.PathHD(hh.KnowledgeGraph.from_triples(FACTS))).invoke("Who?")
except LookupError as error:
    assert "names no entity" in str(error)
else:
    raise AssertionError("a question about nothing was answered")
"""
    assert json.loads(run("-c", STUCK + program, PYTHONPATH=_with_examples())) == [
        [
            None,
            "A -r-> B → (日本)",
            {"entities": ["A", "B → (日本)"], "relations": ["r"], "score": 0.5},
        ],
        ["p7", "Text, as it is.", {"score": 0.25}],
    ]


@pytest.mark.needs("llama_index")
def test_llamaindex_with_any_retriever():
    program = """
from llama_index.core.schema import MetadataMode
from llamaindex_retriever import HyperhopRetriever

stuck = Stuck()
adaptor = HyperhopRetriever(stuck)
later = asyncio.run(asked(stuck, adaptor.aretrieve("?")))
again = adaptor.retrieve("?")
assert [(n.text, n.metadata, n.score) for n in later] == [
    (n.text, n.metadata, n.score) for n in again
]
assert later[1].node_id == "p7"
print(json.dumps([[n.get_content(MetadataMode.LLM), n.metadata, n.score] for n in later]))
"""
    assert json.loads(run("-c", STUCK + program, PYTHONPATH=_with_examples())) == [
        ["A -r-> B → (日本)", {"entities": ["A", "B → (日本)"], "relations": ["r"]}, 0.5],
        ["Text, as it is.", {}, 0.25],
    ]


def _with_examples():
    return os.pathsep.join([str(EXAMPLES), *filter(None, [os.environ.get("PYTHONPATH")])])
