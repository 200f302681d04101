"""One part of a benchmark, planned once for all settings of a study."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import date
from functools import cached_property
from inspect import signature
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hyperhop.evaluate import benchmarks, machine
from hyperhop.evaluate.benchmarks import Question
from hyperhop.evaluate.planning import make_planner
from hyperhop.evidence import Evidence
from hyperhop.graph import KnowledgeGraph, UnknownEntity
from hyperhop.llm import ChatModel
from hyperhop.pathhd import PathHD, Plans
from hyperhop.pathhd.candidates import Candidates, name_ranks
from hyperhop.pathhd.expand import expand
from hyperhop.pathhd.walks import Walks
from hyperhop.paths import Paths
from hyperhop.text import TextEncoder, get_encoder

Item = TypeVar("Item")
Progress = Callable[[int, int], object]


@dataclass
class Asked:
    """One question with the sequences that exist from its topic, and its plans.

    Attributes:
        question, entity: what is asked, and the topic's id.
        candidates, plans: N sequences; the planner's order of them.
        rows: int64 (N,), where each candidate stands in `Context.distinct`.
        milliseconds: to enumerate and to plan.
    """

    question: Question
    entity: int
    candidates: Candidates
    plans: Plans
    rows: npt.NDArray[np.int64]
    milliseconds: float
    ends: dict[int, list[str]] = field(default_factory=dict)


class Context:
    """Questions, graph and plans that all settings of a study share.

    Args:
        name, data_dir, split, fold, seed: see `benchmarks.load`.
        part: "train", "dev" or "test"; `limit` takes its first questions only.
        planner: see `planning.make_planner`.
        encoder: name or TextEncoder.
        model: the language model, for the studies in `WITH_MODEL`.
        progress: told (settings done, of), and while planning (questions done, of).
        options: PathHD's for walks (the fields of `Walks`); they replace the benchmark's own.

    ValueError for an unknown name, split, part, planner or option, and for a part without
    questions.
    """

    def __init__(
        self,
        name: str,
        data_dir: str | Path | None,
        part: str = "dev",
        *,
        split: str | None = None,
        fold: int = 0,
        seed: int = 0,
        limit: int | None = None,
        planner: str = "lexical",
        encoder: str | TextEncoder = "hashing",
        model: ChatModel | None = None,
        progress: Progress | None = None,
        **options: Any,
    ) -> None:
        self.data = benchmarks.load(name, data_dir, split, fold=fold, seed=seed)
        self.questions = self.data.asked("study", part, limit)
        self.part, self.limit, self.model = part, limit, model
        if self.data.graph is None:
            raise ValueError(f"study: {name} has a graph for each question, studies need one")
        self.graph: KnowledgeGraph = self.data.graph
        self.encoder = get_encoder(encoder) if isinstance(encoder, str) else encoder
        self.planner = make_planner(
            planner, self.graph.symbols, self.encoder, self.data.train, self.questions
        )
        self.options = {**self.data.options, **options}
        self.walks = _walks(self.graph, self.options)
        self._progress = progress
        self._ranks = name_ranks(self.graph.symbols)

    @property
    def about(self) -> dict[str, Any]:
        """What was run, for JSON."""
        return {
            "benchmark": self.data.name,
            "split": self.data.split,
            "part": self.part,
            "seed": self.data.seed,
            "questions": len(self.questions),
            "limit": self.limit,
            "planner": self.planner.name,
            "encoder": self.encoder.name,
            "options": dict(self.options),
            "versions": machine.versions(),
            "machine": machine.machine(),
            "day": date.today().isoformat(),
        }

    @property
    def title(self) -> str:
        """Which questions, in a few words."""
        return (
            f"{self.data.name} {self.part} ({self.data.split}, {len(self.questions)} questions, "
            f"planner {self.planner.name}, encoder {self.encoder.name})"
        )

    def track(self, settings: Sequence[Item]) -> Iterator[Item]:
        """The settings one by one, telling how far the study is."""
        for done, setting in enumerate(settings):
            yield setting
            if self._progress is not None:
                self._progress(done + 1, len(settings))

    def candidates(self, entity: int) -> Candidates:
        """The sequences that exist from a topic."""
        return Candidates(self.walks.sequences(entity), self.graph.symbols, self._ranks)

    def topic(self, question: Question) -> int | None:
        """The question's topic; None where it names none or one that the graph does not have."""
        try:
            return None if question.topic is None else self.graph.entity_id(question.topic)
        except UnknownEntity:
            return None

    @cached_property
    def _planned(self) -> tuple[list[Asked], Paths]:
        numbers: dict[tuple[int, ...], int] = {}
        asked = []
        for question in self.track(self.questions):
            start = perf_counter()
            entity = self.topic(question)
            if entity is None:
                continue
            candidates = self.candidates(entity)
            plans = self.planner.plan(question.text, question.mention, candidates)
            took = 1e3 * (perf_counter() - start)
            rows = [
                numbers.setdefault(tuple(candidates.paths[i].tolist()), len(numbers))
                for i in range(len(candidates))
            ]
            found = np.array(rows, np.int64)
            asked.append(Asked(question, entity, candidates, plans, found, took))
        return asked, Paths.from_lists([list(path) for path in numbers])

    @property
    def asked(self) -> list[Asked]:
        """All questions that have a candidate, planned once."""
        return [one for one in self._planned[0] if len(one.candidates)]

    @property
    def distinct(self) -> Paths:
        """All sequences that are a candidate of some question, each once."""
        return self._planned[1]

    @property
    def unanswerable(self) -> int:
        """Questions without a topic in the graph or any candidate: always a miss."""
        return len(self.questions) - len(self.asked)

    def ends(self, asked: Asked, index: int) -> list[str]:
        """Names of the entities that one candidate leads to, in order; looked up once."""
        if index not in asked.ends:
            walks, paths = replace(self.walks, path_cap=1), asked.candidates.paths
            found = walks.paths(asked.entity, paths, np.array([index]))
            asked.ends[index] = sorted(self.graph.entity_names(found.ends_of(0).tolist()))
        return asked.ends[index]

    def evidence(self, asked: Asked, scores: npt.NDArray[np.float64], k: int | None) -> Evidence:
        """What a reader gets of candidates with these scores (N,): the best k, or all of them."""
        kept = len(asked.candidates) if k is None else k
        found = expand(
            *(self.walks, asked.entity, asked.candidates, asked.plans, scores), kept, "sequence"
        )
        topic = asked.question.topic
        return Evidence(topic, found.paths, found.sequences, truncated=found.truncated)


def _walks(graph: KnowledgeGraph, options: dict[str, Any]) -> Walks:
    """PathHD's walks under some of its options, its defaults for the others."""
    defaults = signature(PathHD).parameters
    names = [field.name for field in fields(Walks) if field.name != "kg"]
    wrong = set(options) - set(names)
    if wrong:
        raise ValueError(f"study: {', '.join(sorted(wrong))} is no option of walks")
    return Walks(graph, **{name: options.get(name, defaults[name].default) for name in names})
