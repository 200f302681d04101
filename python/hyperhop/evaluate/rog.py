"""JSON Lines as RoG (Luo et al., ICLR 2024) reads them: questions with their own subgraphs.

`{"id", "question", "q_entity": [...], "a_entity": [...], "graph": [[head, relation, tail], ...]}`,
and the form that holds gold relation paths, `{"id", "question", "ground_paths": [[...], ...]}`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from hyperhop.evaluate.files import Entry, json_lines
from hyperhop.evaluate.question import Question, about, either_way, names_of
from hyperhop.graph import KnowledgeGraph, MalformedLine


def read(path: str | Path) -> Iterator[Question]:
    """The questions of one file, plain or .gz, one after another.

    Answers are `a_entity`, or `answer` where that is missing; names in `answer` beside them are
    aliases. `ground_paths` come from walks that ignore direction, so each stands for all its
    directions (see `either_way`). MalformedLine where a key has another form, and where a question
    has neither answers nor gold paths.
    """
    for entry in json_lines(path):
        yield _question(entry)


def _question(entry: Entry) -> Question:
    if not entry.values.keys() & {"a_entity", "answer", "ground_paths"}:
        raise entry.wrong("a_entity, answer or ground_paths", repr(sorted(entry.values)))
    text, name = entry.take("question", str), str(entry.values.get("id", entry.number))
    listed = entry.texts("answer", [])
    answers = frozenset(entry.texts("a_entity", listed))
    paths = entry.text_lists("ground_paths", [])
    graph = subgraph(entry, entry.take("graph", list)) if "graph" in entry.values else None
    topic, mention, others = about(entry.texts("q_entity", []), text, names_of(graph))
    return Question(
        text,
        topic,
        mention,
        answers,
        either_way(paths),
        name,
        id=name,
        other_topics=others,
        aliases=frozenset(listed) - answers,
        graph=graph,
    )


def subgraph(entry: Entry, triples: list[Any]) -> KnowledgeGraph:
    """The graph of one question."""
    if not all(isinstance(triple, list | tuple) for triple in triples):
        raise entry.wrong("a graph of lists of three names", repr(triples))
    try:
        return KnowledgeGraph.from_triples(map(tuple, triples))
    except (MalformedLine, TypeError) as error:
        raise entry.wrong("a graph of lists of three names", str(error)) from None
