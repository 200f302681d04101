"""WebQSP as published (Yih et al., ACL 2016): JSON with parses, inferential chains and answers."""

from collections.abc import Container, Iterator
from pathlib import Path
from typing import Literal

from hyperhop.evaluate.files import Entry, json_items
from hyperhop.evaluate.question import Question, about

Identity = Literal["name", "mid"]


def read(path: str | Path, by: Identity = "name", known: Container[str] = ()) -> Iterator[Question]:
    """The questions of WebQSP.train.json or WebQSP.test.json, plain or .gz.

    A question may have several parses: topics, chains and answers are those of all of them, in
    order. `by` says how the graph that they will be asked on names entities: "name"
    (TopicEntityName; EntityName, or AnswerArgument of a plain value) or "mid" (TopicEntityMid,
    AnswerArgument). What an answer is called otherwise is an alias. Chains walk forwards. Of
    several topics the first that is `known` to the graph is asked from. ValueError for another
    `by`, MalformedLine for another form.
    """
    if by not in ("name", "mid"):
        raise ValueError(f"webqsp_official: by must be name or mid, got {by!r}")
    for entry in json_items(path, "Questions"):
        yield _question(entry, by, known)


def _question(entry: Entry, by: Identity, known: Container[str]) -> Question:
    text, name = entry.take("RawQuestion", str), entry.take("QuestionId", str)
    parses = entry.inside("Parses")
    key = "TopicEntityName" if by == "name" else "TopicEntityMid"
    topics = [topic for parse in parses if (topic := parse.take(key, str, ""))]
    chains = [parse.texts("InferentialChain", []) for parse in parses]
    answers, aliases = set[str](), set[str]()
    for answer in [answer for parse in parses for answer in parse.inside("Answers")]:
        identifier, spoken = answer.take("AnswerArgument", str), answer.take("EntityName", str, "")
        answers.add(spoken or identifier if by == "name" else identifier)
        aliases |= {identifier, spoken} - {""}
    first, mention, others = about(topics, text, known)
    return Question(
        text,
        first,
        mention,
        frozenset(answers),
        frozenset(tuple(chain) for chain in chains if chain),
        name,
        id=name,
        other_topics=others,
        aliases=frozenset(aliases - answers),
    )
