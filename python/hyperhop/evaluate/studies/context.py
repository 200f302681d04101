"""One part of a benchmark, planned once for all settings of a study."""

import platform
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from hyperhop.evaluate import benchmarks
from hyperhop.evaluate.benchmarks import PARTS, Question
from hyperhop.evaluate.planning import make_planner
from hyperhop.evidence import Evidence, EvidencePath, EvidenceSequence
from hyperhop.pathhd import Plans
from hyperhop.pathhd.candidates import Candidates, name_ranks
from hyperhop.paths import Paths
from hyperhop.text import TextEncoder, get_encoder

Item = TypeVar("Item")
Progress = Callable[[int, int], object]

PATH_CAP = 1_000  # entity paths listed for one question, as PathHD has it


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
        progress: told (settings done, of), and while planning (questions done, of).
        options: PathHD's for walks (max_hops, inverse, return_to_topic, beam, cap); they replace
            the benchmark's own.

    ValueError for an unknown name, split, part or planner, and for a part without questions.
    """

    def __init__(
        self,
        name: str,
        data_dir: str | Path,
        part: str = "dev",
        *,
        split: str | None = None,
        fold: int = 0,
        seed: int = 0,
        limit: int | None = None,
        planner: str = "lexical",
        encoder: str | TextEncoder = "hashing",
        progress: Progress | None = None,
        **options: Any,
    ) -> None:
        if part not in PARTS:
            raise ValueError(f"study: part must be {', '.join(PARTS)}, got {part!r}")
        self.data = benchmarks.load(name, data_dir, split, fold=fold, seed=seed)
        self.questions: list[Question] = getattr(self.data, part)[:limit]
        if not self.questions:
            raise ValueError(f"study: {name} has no questions in {part} (limit {limit})")
        self.part, self.limit = part, limit
        self.graph = self.data.graph
        self.encoder = get_encoder(encoder) if isinstance(encoder, str) else encoder
        self.planner = make_planner(
            planner, self.graph.symbols, self.encoder, self.data.train, self.questions
        )
        self.options = {**self.data.options, **options}
        self.walks = {key: value for key, value in self.options.items() if key != "max_hops"}
        self.max_hops: int = self.options["max_hops"]
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
            "versions": {name: version(name) for name in ("hyperhop", "numpy")}
            | {"python": platform.python_version()},
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

    def candidates(self, topic: str) -> tuple[int, Candidates]:
        """The topic's id and the sequences that exist from it."""
        entity = self.graph.entity_id(topic)
        paths = self.graph.sequences(entity, self.max_hops, **self.walks)
        return entity, Candidates(paths, self.graph.symbols, self._ranks)

    @cached_property
    def _planned(self) -> tuple[list[Asked], Paths]:
        numbers: dict[tuple[int, ...], int] = {}
        asked = []
        for question in self.track(self.questions):
            start = perf_counter()
            entity, candidates = self.candidates(question.topic)
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
        """Questions without any candidate: always a miss."""
        return len(self.questions) - len(self.asked)

    def ends(self, asked: Asked, index: int) -> list[str]:
        """Names of the entities that one candidate leads to, in order; looked up once."""
        if index not in asked.ends:
            asked.ends[index] = self.evidence(asked, [index], path_cap=1).sequences[0].ends
        return asked.ends[index]

    def evidence(
        self,
        asked: Asked,
        chosen: Sequence[int],
        scores: npt.NDArray[np.float64] | None = None,
        path_cap: int = PATH_CAP,
    ) -> Evidence:
        """What a reader gets: the chosen candidates with their ends and entity paths, in order."""
        walks = {key: value for key, value in self.walks.items() if key == "return_to_topic"}
        found = self.graph.paths(
            asked.entity,
            self.max_hops,
            sequences=asked.candidates.paths.take(np.asarray(chosen, np.int64)),
            cap=path_cap,
            **walks,
        )
        paths: list[EvidencePath] = []
        sequences: list[EvidenceSequence] = []
        for row, index in enumerate(chosen):
            relations = asked.candidates.relations(index)
            score = 0.0 if scores is None else float(scores[index])
            ends = sorted(self.graph.entity_names(found.ends_of(row).tolist()))
            walked = sorted(self.graph.entity_names(ids) for ids in found.of_sequence(row).tolist())
            paths += [EvidencePath(names, relations, score) for names in walked]
            sequences.append(EvidenceSequence(relations, ends, score, 0.0))
        return Evidence(asked.question.topic, paths, sequences, truncated=found.truncated)
