"""What a model is trained on."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Example:
    """A question, the entities it is asked from, and its answers, by name.

    Answers that the graph, or the part of it around the topics, does not have are no targets. A
    question left without any is not learned from, and counts as a miss where it is asked.
    """

    question: str
    topics: tuple[str, ...]
    answers: tuple[str, ...]

    def __post_init__(self) -> None:
        if not self.topics:
            raise ValueError(f"Example: {self.question!r} needs at least one topic")

    @classmethod
    def of(cls, question: str, topic: str | Iterable[str], answers: Iterable[str]) -> "Example":
        """One example; answers lose repeats and are sorted, so that their order means nothing."""
        topics = (topic,) if isinstance(topic, str) else tuple(dict.fromkeys(topic))
        return cls(question, topics, tuple(sorted(set(answers))))
