"""`*_simple.json` of NSM (He et al., WSDM 2021) and GraftNet: questions with their own subgraphs.

One JSON object a line: `id, question, entities, answers: [{"kb_id", "text"}], subgraph: {"tuples",
"entities"}`. Entities and relations are numbers of the lines of entities.txt and relations.txt, or
names, or objects with `kb_id` or `rel_id`.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from hyperhop.evaluate.files import Entry, json_lines, lines, located
from hyperhop.evaluate.question import Question, about, names_of
from hyperhop.evaluate.rog import subgraph

Vocabulary = list[str] | None


def read(path: str | Path) -> Iterator[Question]:
    """The questions of one file, plain or .gz; the vocabularies are read from its folder.

    Answers are their `kb_id`, by which the subgraph knows them, and their `text` is an alias.
    MalformedLine for another form, and for a number that no vocabulary holds.
    """
    folder = Path(path).parent
    entities, relations = (
        _vocabulary(folder / f"{kind}.txt") for kind in ("entities", "relations")
    )
    for entry in json_lines(path):
        yield _question(entry, entities, relations)


def _vocabulary(path: Path) -> Vocabulary:
    """Names by line number from 0; None where there is no such file."""
    return [name for _, name in lines(path)] if located(path).exists() else None


def _question(entry: Entry, entities: Vocabulary, relations: Vocabulary) -> Question:
    text, name = entry.take("question", str), str(entry.values.get("id", entry.number))
    held = entry.take("subgraph", dict)
    triples = held.get("tuples")
    if not isinstance(triples, list) or not all(
        isinstance(triple, list) and len(triple) == 3 for triple in triples
    ):
        raise entry.wrong("'subgraph' with tuples of three", repr(triples))
    entity, relation = _namer(entry, entities, "kb_id"), _namer(entry, relations, "rel_id")
    graph = subgraph(entry, [(entity(h), relation(r), entity(t)) for h, r, t in triples])
    answers = entry.inside("answers")
    spoken = (answer.values.get("text") for answer in answers)
    topics = [entity(topic) for topic in entry.take("entities", list)]
    topic, mention, others = about(topics, text, names_of(graph))
    return Question(
        text,
        topic,
        mention,
        frozenset(entity(answer.values) for answer in answers),
        frozenset(),
        name,
        id=name,
        other_topics=others,
        aliases=frozenset(alias for alias in spoken if isinstance(alias, str)),
        graph=graph,
    )


def _namer(entry: Entry, vocabulary: Vocabulary, key: str) -> Callable[[object], str]:
    def name(value: object) -> str:
        if isinstance(value, dict):
            value = value.get(key)
        if isinstance(value, str):
            return value
        if not isinstance(value, int) or isinstance(value, bool):
            raise entry.wrong(f"a name, a number or an object with {key}", repr(value))
        if vocabulary is None or not 0 <= value < len(vocabulary):
            file = "entities.txt" if key == "kb_id" else "relations.txt"
            size = "there is no such file" if vocabulary is None else f"{len(vocabulary)} names"
            raise entry.wrong(f"a line number of {file} ({size})", repr(value))
        return vocabulary[value]

    return name
