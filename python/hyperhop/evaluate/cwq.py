"""ComplexWebQuestions (Talmor & Berant, NAACL 2018), a JSON list."""

from collections.abc import Container, Iterator
from pathlib import Path

from hyperhop.evaluate.files import Entry, json_items
from hyperhop.evaluate.question import Question, about


def read(path: str | Path, known: Container[str] = ()) -> Iterator[Question]:
    """The questions of one file, plain or .gz, without gold paths.

    Topics are the names in `topic_entity` (id: name), if there; of several the first that is
    `known` to the graph. Answers are the published `answers` with their aliases, or the one in
    `answer`. `level` is the compositionality type. MalformedLine for another form.
    """
    for entry in json_items(path):
        yield _question(entry, known)


def _question(entry: Entry, known: Container[str]) -> Question:
    text, name = entry.take("question", str), entry.take("ID", str)
    topics = entry.take("topic_entity", dict, {})
    aliases: set[str] = set()
    if "answers" in entry.values:
        answers = set()
        for answer in entry.inside("answers"):
            # some answers have no name but an id
            answers.add(answer.take("answer", str, str(answer.values.get("answer_id"))))
            aliases.update(answer.texts("aliases", []))
    else:
        answers = {entry.take("answer", str)}
    topic, mention, others = about(map(str, topics.values()), text, known)
    return Question(
        text,
        topic,
        mention,
        frozenset(answers),
        frozenset(),
        name,
        id=name,
        level=entry.take("compositionality_type", str, ""),
        other_topics=others,
        aliases=frozenset(aliases - answers),
    )
