"""WebQSP, CWQ and GrailQA questions on one partial Freebase graph, put together from public runs.

The graph (`head TAB relation TAB tail TAB sources`) is what trained systems retrieved for these
questions: it is full of answers and poor in distractors, and has lost the direction of its edges.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from hyperhop.evaluate import cwq, grailqa, rog
from hyperhop.evaluate.files import lines, located
from hyperhop.evaluate.question import Benchmark, Question, about, either_way, names_of
from hyperhop.graph import KnowledgeGraph, MalformedLine
from hyperhop.text.relations import split_symbol

SPLIT = "test-only"
NOTE = (
    "on a partial graph assembled from what published systems retrieved: "
    "not comparable with published answer accuracy"
)
_ONE_ANSWER = "; one answer a question is known, so that answer sets are scored too low"

# Not tuned: the hop counts of the published gold paths, and edges walked both ways since the graph
# does not know their direction.
_HOPS = {"WebQSP": 2, "CWQ": 3, "GrailQA": 3}
_QUESTIONS = {
    "WebQSP": "webqsp_test_topics.jsonl",
    "CWQ": "cwq_test.json",
    "GrailQA": "grailqa_1000.json",
}


def names() -> list[str]:
    """Names of the sets."""
    return list(_HOPS)


def question_file(name: str) -> str:
    """File of the questions of one set, without .gz."""
    return _QUESTIONS[name]


def load(name: str, folder: Path, seed: int = 0) -> Benchmark:
    """One set: all its questions are test, and those of WebQSP's train file have gold paths only.

    The graph is fb_union_graph.tsv, the questions are webqsp_test_topics.jsonl (WebQSP),
    cwq_test.json (CWQ) or grailqa_1000.json (GrailQA); gold paths come from
    {webqsp,cwq}_rulepath_test.jsonl or GrailQA's graph queries, each in all directions. All plain
    or .gz. FileNotFoundError without a file.
    """
    graph = KnowledgeGraph.from_triples(facts(folder / "fb_union_graph.tsv"))
    known = names_of(graph)
    train: list[Question] = []
    if name == "WebQSP":
        asked = rog.read(folder / question_file(name))
        test = list(_with_paths(asked, folder / "webqsp_rulepath_test.jsonl", known))
        if located(folder / "webqsp_rulepath_train.jsonl").exists():
            train = list(rog.read(folder / "webqsp_rulepath_train.jsonl"))
    elif name == "CWQ":
        asked = cwq.read(folder / question_file(name), known)
        test = list(_with_paths(asked, folder / "cwq_rulepath_test.jsonl", known))
    else:
        asked = grailqa.read(folder / question_file(name), known)
        test = [replace(one, paths=_undirected(one.paths)) for one in asked]
    options: dict[str, Any] = {"max_hops": _HOPS[name], "inverse": True}
    note = NOTE + (_ONE_ANSWER if name == "CWQ" else "")
    return Benchmark(name, SPLIT, seed, graph, train, [], test, options, note)


def facts(path: str | Path) -> Iterator[tuple[str, str, str]]:
    """Head, relation and tail of each line; MalformedLine for a line of another form."""
    for number, line in lines(path):
        fields = line.split("\t")
        if len(fields) != 4:
            expected = "head TAB relation TAB tail TAB sources"
            raise MalformedLine(str(path), number, expected, repr(line[:200]))
        yield fields[0], fields[1], fields[2]


def _with_paths(
    questions: Iterator[Question], path: Path, known: frozenset[str]
) -> Iterator[Question]:
    gold = {one.id: one.paths for one in rog.read(path)}
    for question in questions:
        topics = [question.topic, *question.other_topics] if question.topic is not None else []
        topic, mention, others = about(filter(None, topics), question.text, known)
        yield replace(
            question,
            topic=topic,
            mention=mention,
            other_topics=others,
            paths=gold.get(question.id, frozenset()),
        )


def _undirected(paths: frozenset[tuple[str, ...]]) -> frozenset[tuple[str, ...]]:
    return either_way([split_symbol(symbol)[0] for symbol in path] for path in paths)
