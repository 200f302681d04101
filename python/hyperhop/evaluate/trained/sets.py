"""What a model is trained on: parts of benchmarks, or a file of questions of one's own."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperhop.evaluate import benchmarks
from hyperhop.evaluate.benchmarks import Benchmark, Question
from hyperhop.evaluate.files import json_lines
from hyperhop.graph import KnowledgeGraph
from hyperhop.rsf.training import Example

TOGETHER = {"MetaQA": ("MetaQA-1", "MetaQA-2", "MetaQA-3")}  # one model for all hop counts


@dataclass(frozen=True)
class QuestionSets:
    """Benchmarks on one graph that one model is trained for.

    Attributes:
        name: of all of them.
        sets: each by itself, as it is measured.
        graph: the one they share.
    """

    name: str
    sets: tuple[Benchmark, ...]
    graph: KnowledgeGraph

    @property
    def needs(self) -> dict[str, Any]:
        """What a model for these questions must be able to do, by its switches.

        The hop count of the longest questions, and what walks of the sets were chosen to be.
        """
        options = [one.options for one in self.sets]
        return {
            "hops": max(int(one["max_hops"]) for one in options),
            "inverse": any(bool(one["inverse"]) for one in options),
            "return_to_topic": all(bool(one["return_to_topic"]) for one in options),
        }

    def examples(self, part: str, limit: int | None = None) -> list[Example]:
        """The first `limit` questions of a part of each set, one set after another."""
        return [
            example for one in self.sets for example in examples_of(one.asked("train", part, limit))
        ]


def load_sets(
    name: str,
    data_dir: str | Path | None,
    split: str | None = None,
    *,
    fold: int = 0,
    seed: int = 0,
) -> QuestionSets:
    """A benchmark by name, see `benchmarks.load`; "MetaQA" is its three sets together.

    ValueError for a name that has no graph for all its questions, or no questions to train on.
    """
    names = TOGETHER.get(name, (name,))
    sets = tuple(benchmarks.load(one, data_dir, split, fold=fold, seed=seed) for one in names)
    graph = sets[0].graph
    if graph is None or not sets[0].train:
        raise ValueError(f"train: {name} has no training questions on one graph")
    return QuestionSets(name, sets, graph)


def examples_of(questions: Iterable[Question]) -> list[Example]:
    """Those that name a topic, as a model learns them."""
    return [
        Example.of(question.text, question.topic, question.answers)
        for question in questions
        if question.topic is not None
    ]


def read_examples(path: str | Path) -> list[Example]:
    """A JSON Lines file, plain or .gz: {"question": ..., "topic": ..., "answers": [...]}.

    "topic" is a name or a list of names. MalformedLine for another line, ValueError for none.
    """
    found = []
    for entry in json_lines(path):
        topic = entry.values.get("topic")
        topics = [topic] if isinstance(topic, str) else topic and entry.texts("topic")
        if not topics:
            raise entry.wrong("'topic' to be a name or a list of names", repr(topic))
        found.append(Example.of(entry.take("question", str), topics, entry.texts("answers")))
    if not found:
        raise ValueError(f"{path} holds no questions")
    return found


def hold_out(examples: Sequence[Example]) -> tuple[list[Example], list[Example]]:
    """Nine tenths to train on and a tenth to stop by; all questions from one topic stay together.

    A question of the tenth about a topic that was trained on would say little.
    """
    topics = sorted({example.topics for example in examples})
    held = set(topics[::10]) if len(topics) > 1 else set()
    training = [example for example in examples if example.topics not in held]
    return training, [example for example in examples if example.topics in held]
