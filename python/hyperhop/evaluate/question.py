"""The one form of all benchmarks: questions with their answers, and the graph they are asked on."""

from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from hyperhop.graph import KnowledgeGraph
from hyperhop.pathhd.planners.protocol import Span
from hyperhop.text.mention import find_mention
from hyperhop.text.relations import INVERSE_MARK


@dataclass(frozen=True)
class Question:
    """One question.

    Attributes:
        topic: the entity it is asked from; None leaves finding one to the system.
        mention: where it names its topic, in characters.
        answers: gold answers, as the graph names them.
        paths: gold relation paths, as symbol names.
        unit: what intervals resample: questions of one unit are paraphrases of one fact.
        id: unique in its benchmark.
        level: the group it is reported with, such as GrailQA's "zero-shot".
        other_topics: what it names beside its topic, as far as the graph knows it.
        aliases: other names of its answers; only alias-aware metrics look at them.
        passages: ids of gold passages.
        graph: the subgraph it is asked on, where every question has its own.
    """

    text: str
    topic: str | None
    mention: Span | None
    answers: frozenset[str]
    paths: frozenset[tuple[str, ...]]
    unit: Hashable
    id: str = ""
    level: str = ""
    other_topics: tuple[str, ...] = ()
    aliases: frozenset[str] = frozenset()
    passages: frozenset[str] = frozenset()
    graph: KnowledgeGraph | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True)
class Benchmark:
    """Questions in three parts, and the graph they are asked on.

    `graph` is None where every question has its own. `options` are PathHD's for this set: the hop
    count as `max_hops`, and what was chosen on dev. `note` is what every number must be read with.
    """

    name: str
    split: str
    seed: int
    graph: KnowledgeGraph | None
    train: list[Question]
    dev: list[Question]
    test: list[Question]
    options: dict[str, Any] = field(default_factory=dict)
    note: str = ""

    def asked(self, function: str, part: str, limit: int | None) -> list[Question]:
        """The first `limit` questions of a part. ValueError for another part, and without any."""
        parts = {"train": self.train, "dev": self.dev, "test": self.test}
        if part not in parts:
            raise ValueError(f"{function}: part must be {', '.join(parts)}, got {part!r}")
        questions = parts[part][:limit]
        if not questions:
            having = ", ".join(name for name, listed in parts.items() if listed)
            raise ValueError(
                f"{function}: {self.name} has no questions in {part} (limit {limit}); "
                f"some are in {having}"
            )
        return questions


def about(
    topics: Iterable[str], text: str, known: Container[str] = ()
) -> tuple[str | None, Span | None, tuple[str, ...]]:
    """Topic, its mention in `text`, and the other topics.

    Of several only those `known` to the graph count, so that the question can be asked; all of them
    if none is.
    """
    names = list(dict.fromkeys(topics))
    names = [name for name in names if name in known] or names
    if not names:
        return None, None, ()
    return names[0], find_mention(text, names[0]), tuple(names[1:])


def names_of(graph: KnowledgeGraph | None) -> frozenset[str]:
    """Names of all entities. O(V)."""
    return frozenset() if graph is None else frozenset(graph.entity_names(graph.entity_ids))


def either_way(paths: Iterable[Sequence[str]]) -> frozenset[tuple[str, ...]]:
    """Relation paths whose steps have lost their direction, as symbols: each step both ways.

    A path of L relations becomes 2^L; empty ones are left out, since no walk has no step.
    """
    return frozenset(
        symbols
        for path in paths
        if path
        for symbols in product(*((relation, INVERSE_MARK + relation) for relation in path))
    )
