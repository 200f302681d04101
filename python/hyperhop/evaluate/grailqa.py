"""GrailQA (Gu et al., WWW 2021), a JSON list: questions with graph queries and levels."""

from collections import deque
from collections.abc import Container, Iterator
from pathlib import Path

from hyperhop.evaluate.files import Entry, json_items
from hyperhop.evaluate.question import Question, about
from hyperhop.text.relations import INVERSE_MARK

LEVELS = ("i.i.d.", "compositional", "zero-shot")


def read(path: str | Path, known: Container[str] = ()) -> Iterator[Question]:
    """The questions of one file, plain or .gz, by names; ids are aliases.

    Topics are the entities of the graph query, of several the first that is `known` to the graph.
    The gold path is the shortest one from the topic to what is asked for, over the edges of the
    graph query. An answer without a name (a plain value) goes by its argument. `level` is the level
    of generalisation. MalformedLine for another form.
    """
    for entry in json_items(path):
        yield _question(entry, known)


def _question(entry: Entry, known: Container[str]) -> Question:
    text, name = entry.take("question", str), str(entry.take("qid", int))
    answers, aliases = set[str](), set[str]()
    for answer in entry.inside("answer"):
        identifier, spoken = (
            answer.take("answer_argument", str),
            answer.take("entity_name", str, ""),
        )
        answers.add(spoken or identifier)
        aliases.add(identifier)
    level = entry.take("level", str, "")
    if level not in ("", *LEVELS):
        raise entry.wrong(f"'level' to be one of {', '.join(LEVELS)}", repr(level))
    topics = {str(mid): str(spoken) for mid, spoken in entry.take("topic_entity", dict, {}).items()}
    topic, mention, others = about(topics.values(), text, known)
    paths = {
        path for mid, spoken in topics.items() if spoken == topic and (path := _path(entry, mid))
    }
    return Question(
        text,
        topic,
        mention,
        frozenset(answers),
        frozenset(paths),
        name,
        id=name,
        level=level,
        other_topics=others,
        aliases=frozenset(aliases - answers),
    )


def _path(entry: Entry, topic: str) -> tuple[str, ...]:
    """Symbols of the shortest walk from the topic's node to the question node; () if none."""
    query = entry.take("graph_query", dict, {})
    whole = Entry(query, entry.source, entry.number, entry.unit)
    steps: dict[int, list[tuple[str, int]]] = {}
    for edge in whole.inside("edges", []):
        start, end = edge.take("start", int), edge.take("end", int)
        relation = edge.take("relation", str)
        steps.setdefault(start, []).append((relation, end))
        steps.setdefault(end, []).append((INVERSE_MARK + relation, start))
    nodes = whole.inside("nodes", [])
    asked = {node.take("nid", int) for node in nodes if node.values.get("question_node")}
    first = [node.take("nid", int) for node in nodes if node.values.get("id") == topic]
    queue: deque[tuple[int, tuple[str, ...]]] = deque((node, ()) for node in first)
    seen = set(first)
    while queue:
        node, path = queue.popleft()
        if node in asked:
            return path
        for symbol, other in steps.get(node, []):
            if other not in seen:
                seen.add(other)
                queue.append((other, (*path, symbol)))
    return ()
