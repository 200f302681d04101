"""What questions are asked about, as arguments."""

from collections.abc import Sequence

import numpy as np

from hyperhop.graph.arguments import integer

Topic = str | int | Sequence[str | int] | None  # names or ids
Topics = Sequence[Topic]


class TopicNotFound(LookupError):
    """The question names no entity of the graph."""

    def __init__(self, question: str) -> None:
        super().__init__(
            f"the question names no entity of the graph; give one with topic=: {question!r}"
        )
        self.question = question

    def __reduce__(self) -> tuple[type["TopicNotFound"], tuple[str]]:
        return TopicNotFound, (self.question,)


def topics_of(system: str, topic: Topic) -> tuple[str | int, ...]:
    """The names and ids in the argument `topic`, none of None. TypeError for another kind."""
    if topic is None:
        return ()
    if isinstance(topic, str):
        return (topic,)
    given = (topic,) if isinstance(topic, int | np.integer) else topic
    listed = isinstance(given, Sequence) or (isinstance(given, np.ndarray) and given.ndim == 1)
    if not listed or isinstance(given, bytes):
        raise TypeError(f"{system}: topic must be a name, an id or a list, got {_kind(topic)}")
    return tuple(one if isinstance(one, str) else integer(system, "topic", one) for one in given)


def topics_by_question(system: str, topics: Topics | None, count: int) -> list[Topic]:
    """One hashable topic a question. ValueError unless there are as many as questions."""
    if topics is None:
        return [None] * count
    given: list[Topic] = [None if one is None else topics_of(system, one) for one in topics]
    if len(given) != count:
        raise ValueError(f"{system}: {count} questions, but {len(given)} topics")
    return given


def check_question(system: str, question: object) -> None:
    """TypeError unless it is a str."""
    if not isinstance(question, str):
        raise TypeError(f"{system}: question must be str, got {_kind(question)}")


def questions_of(system: str, questions: Sequence[str]) -> list[str]:
    """`questions` as a list. TypeError for one str in place of a list."""
    if isinstance(questions, str):
        raise TypeError(f"{system}: questions must be a list of str, got one str")
    return list(questions)


def _kind(value: object) -> str:
    return type(value).__name__
